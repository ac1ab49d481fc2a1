// Takes the code from the link's fragment, which no log and no Referer holds, and out of the address and the history.
const code = new URLSearchParams(location.hash.slice(1)).get("t");
const form = document.getElementById("start");
if (code && form) {
  history.replaceState(null, "", location.pathname + location.search);
  form.code.value = code;
  form.requestSubmit();
}

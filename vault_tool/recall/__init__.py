"""How what is found is weighed against what was asked: fused, matched, chained, scored, selected; values in, values out."""

"""What a vault can be asked and told: one public function a verb, with one frozen result."""

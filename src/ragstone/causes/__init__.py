"""Why an answer is wrong: pure rules over what trials and labels show, with no storage."""

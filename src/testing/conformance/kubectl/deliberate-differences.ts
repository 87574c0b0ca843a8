/** Recorded commands that print something else here, with the reason. A test compares the list with docs/API.md. */
export const DELIBERATE_DIFFERENCES: Readonly<Record<string, string>> = Object.freeze({});

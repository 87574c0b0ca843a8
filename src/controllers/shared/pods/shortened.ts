/** At most `longest` characters, the last of them an ellipsis where some are left out. */
export function shortenedTo(longest: number, text: string): string {
  if (text.length <= longest) return text;
  // Never half of a surrogate pair: the server would store something else.
  return `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

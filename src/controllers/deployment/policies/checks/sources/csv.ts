/**
 * The rows of a text in CSV, each a list of fields; an empty line is a row with one empty field.
 * Source: RFC 4180.
 */
export function* parseCsv(text: string): Generator<readonly string[]> {
  let row: string[] = [];
  let at = 0;
  while (at < text.length) {
    const field = readField(text, at);
    row.push(field.text);
    at = field.end;
    if (text[at] === ',') {
      at += 1;
      if (at === text.length) row.push('');
      continue;
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    yield row;
    row = [];
  }
  if (row.length > 0) yield row;
}

/** @returns the field, and the place of the comma or the end of line behind it */
function readField(text: string, from: number): { readonly text: string; readonly end: number } {
  if (text[from] !== '"') {
    let end = from;
    while (end < text.length && text[end] !== ',' && text[end] !== '\n' && text[end] !== '\r') end += 1;
    return { text: text.slice(from, end), end };
  }
  let end = from + 1;
  while (end < text.length && (text[end] !== '"' || text[end + 1] === '"')) end += text[end] === '"' ? 2 : 1;
  const inside = text.slice(from + 1, end).replaceAll('""', '"');
  // A text between the closing quote and the next comma is no part of any field.
  while (end < text.length && text[end] !== ',' && text[end] !== '\n' && text[end] !== '\r') end += 1;
  return { text: inside, end };
}

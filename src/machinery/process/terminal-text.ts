import { randomUUID } from 'node:crypto';

/**
 * Text that a terminal, a log or a file may show, also if a tenant wrote it. Control characters other than a line feed and a tab, and the
 * characters that reorder or hide text (bidirectional controls, line separators), are shown as `\uXXXX`. Such an escape
 * means the same in JSON, so that JSON stays valid and equal.
 */
export function escapedText(text: string): string {
  return text.replace(UNSAFE, escapeOf);
}

/** {@link escapedText} in one line. */
export function escapedLine(text: string): string {
  return text.replace(UNSAFE_IN_A_LINE, escapeOf);
}

/** Control characters, and those of Unicode that change the order or the lines of what is shown. */
const UNSAFE = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;
const UNSAFE_IN_A_LINE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Before a code of Select Graphic Rendition that this program itself asks for. Each process chooses another one, so that no text
 * of an object can hold it: that is how {@link terminalText} tells our own sequences from those of others.
 */
const MARK = `\uE000${randomUUID()}`;
const MARKED = new RegExp(`${MARK}([0-9]{1,3});`, 'g');

/** Text between two codes of Select Graphic Rendition, for {@link terminalText}. */
export function styledText(text: string, begin: number, end: number): string {
  return `${MARK}${begin};${text}${MARK}${end};`;
}

/** As it is seen: without the codes of {@link styledText}. */
export function unstyledText(text: string): string {
  return text.replaceAll(MARKED, '');
}

/** As it is sent to a terminal: escaped, and with the codes of {@link styledText}. */
export function terminalText(text: string): string {
  return escapedText(text).replaceAll(MARKED, '\u001b[$1m');
}

/** Writes lines to standard output. */
export function print(text: string): void {
  process.stdout.write(`${terminalText(text)}\n`);
}

/** Writes lines to standard error. */
export function printError(text: string): void {
  process.stderr.write(`${terminalText(text)}\n`);
}

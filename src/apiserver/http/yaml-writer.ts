import { stringifyJson } from '@rollkeeper/machinery/kubernetes';

/** Texts that a reader of YAML 1.1 takes for something else, or that are written like something else. */
const OTHER_TYPE =
  /^(?:~|null|true|false|yes|no|on|off|y|n|[-+]?(?:\.inf|\.nan)|[-+.]?\d[\d_.:eE+-]*|0[xob][\da-f_]+|\d{4}-\d{1,2}-.*|=|<<)$/i;
/** Texts that need no quotes anywhere: words, with one colon or space between them. */
const PLAIN = /^[\w/][\w/.+@~^=-]*(?:[: ][\w/.+@~^=-]+)*$/;
/** Lines that a literal block keeps as they are. */
const BLOCK = /^[^\p{C}\p{Z}][^\p{C}\p{Zl}\p{Zp}]*(?:\n[^\p{C}\p{Zl}\p{Zp}]*)*$/u;
/** Characters that YAML takes for the end of a line, and JSON does not. */
const LINE_ENDS = /[\u2028\u2029\ufeff]/g;

/** A value as YAML, as Kubernetes writes it: keys sorted, lists at the depth of their key. */
export function yamlText(value: unknown): string {
  return inline(value, '');
}

/** The same as one entry of a list that is written piece by piece. */
export function yamlItem(value: unknown): string {
  return `- ${inline(value, '  ')}`;
}

/** A value behind the indentation that has been written already. */
function inline(value: unknown, indent: string): string {
  if (isFilled(value)) return mapping(value, indent).slice(indent.length);
  if (isFilledList(value)) return sequence(value, indent).slice(indent.length);
  return `${scalar(value, indent)}\n`;
}

function mapping(value: Readonly<Record<string, unknown>>, indent: string): string {
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field !== undefined) text += `${indent}${oneLine(key)}:${behindKey(field, indent)}`;
  }
  return text;
}

function behindKey(value: unknown, indent: string): string {
  if (isFilled(value)) return `\n${mapping(value, `${indent}  `)}`;
  if (isFilledList(value)) return `\n${sequence(value, indent)}`;
  return ` ${scalar(value, indent)}\n`;
}

function sequence(items: readonly unknown[], indent: string): string {
  return items.map((item) => `${indent}- ${inline(item, `${indent}  `)}`).join('');
}

function isFilled(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).some((field) => field !== undefined)
  );
}

function isFilledList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function scalar(value: unknown, indent: string): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value !== 'string') return Array.isArray(value) ? '[]' : stringifyJson(value);
  if (value.includes('\n') && BLOCK.test(value)) return block(value, `${indent}  `);
  return oneLine(value);
}

function oneLine(text: string): string {
  if (PLAIN.test(text) && !OTHER_TYPE.test(text)) return text;
  return JSON.stringify(text).replace(LINE_ENDS, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** `|` keeps one line end at the end, `|-` none, `|+` all. */
function block(text: string, indent: string): string {
  const end = text.endsWith('\n') ? (text.endsWith('\n\n') ? '+' : '') : '-';
  const lines = (end === '-' ? text : text.slice(0, -1)).split('\n');
  return `|${end}\n${lines.map((line) => (line === '' ? '' : `${indent}${line}`)).join('\n')}`;
}

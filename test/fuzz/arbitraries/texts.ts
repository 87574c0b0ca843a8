import fc from 'fast-check';
import { stringify } from 'yaml';
import { setField } from '../../../src/machinery/kubernetes/index.js';

const YAML_PIECES = [
  ...[
    'a: ',
    'b:',
    '- ',
    '-\n',
    '? ',
    ': ',
    ', ',
    '[',
    ']',
    '{',
    '}',
    '\n',
    '\n  ',
    '\n    ',
    '  ',
    '\t',
    '# x\n',
  ],
  ...[
    '&a ',
    '*a',
    '&b ',
    '*b',
    '<<: ',
    '!!set ',
    '!!binary ',
    '!!int ',
    '!x ',
    '%YAML 1.2\n',
    '---\n',
    '...\n',
  ],
  ...[
    '"',
    "'",
    '\\',
    '|\n',
    '>-\n',
    '"x"',
    "'y'",
    'x',
    'yes',
    'null',
    '~',
    '1',
    '0o7',
    '.inf',
    '.nan',
    '1:30',
  ],
  ...['__proto__: ', 'constructor: ', 'metadata: ', 'spec: ', '\u0000', '\u0007', '@', '`', 'é', '😀', '\r'],
];

/** Text in which pieces of YAML stand as they come. */
const yamlSoup = fc
  .array(fc.constantFrom(...YAML_PIECES), { maxLength: 60 })
  .map((pieces) => pieces.join(''));

const jsonSoup = fc
  .array(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      '-',
      'e',
      'tru',
      'null',
      ' ',
      '\n',
      '\u0000',
    ),
    {
      maxLength: 40,
    },
  )
  .map((pieces) => pieces.join(''));

/** More than the server reads at all, characters. What repeats something that is large would have billions. */
const MAX_LENGTH = 3.5 * 1024 * 1024;

/** JSON of the value, or of as much of it as has room. */
export function jsonOf(value: unknown): string {
  let room = MAX_LENGTH;
  const cut = (part: unknown): unknown => {
    room -= typeof part === 'string' ? part.length + 3 : 5;
    if (typeof part !== 'object' || part === null) return part;
    if (Array.isArray(part)) {
      const kept: unknown[] = [];
      for (let index = 0; index < part.length && room > 0; index++) kept.push(cut(part[index]));
      return kept;
    }
    const kept: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(part)) {
      if (room <= 0) break;
      room -= name.length + 3;
      setField(kept, name, cut(field));
    }
    return kept;
  };
  return JSON.stringify(cut(value)) ?? 'null';
}

/** JSON of the value, whole, cut off, or with a character changed. */
export function jsonTexts(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const whole = values.map(jsonOf);
  return fc.oneof(
    { weight: 20, arbitrary: whole },
    {
      weight: 1,
      arbitrary: fc.tuple(whole, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1))),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(whole, fc.nat(), fc.string({ unit: 'binary', maxLength: 3 }))
        .map(([text, at, other]) => {
          const place = at % (text.length + 1);
          return text.slice(0, place) + other + text.slice(place + 1);
        }),
    },
    { weight: 1, arbitrary: jsonSoup },
  );
}

/** YAML of the value, or something like YAML. */
export function yamlTexts(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: jsonTexts(values) },
    { weight: 3, arbitrary: values.map(blockYaml) },
    { weight: 3, arbitrary: yamlSoup },
  );
}

/** Writes small values as YAML in blocks: the library is slow, and deep things are in the JSON. */
function blockYaml(value: unknown): string {
  const json = jsonOf(value);
  if (json.length > 4000) return json;
  try {
    return stringify(value);
  } catch {
    return json;
  }
}

import fc from 'fast-check';
import { stringify } from 'yaml';

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

/** JSON of the value, whole, cut off, or with a character changed. */
export function jsonTexts(values: fc.Arbitrary<unknown>): fc.Arbitrary<string> {
  const whole = values.map((value) => JSON.stringify(value) ?? 'null');
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

/** Of what is small: the library is slow, and deep things are in the JSON. */
function blockYaml(value: unknown): string {
  const json = JSON.stringify(value) ?? 'null';
  if (json.length > 4000) return json;
  try {
    return stringify(value);
  } catch {
    return json;
  }
}

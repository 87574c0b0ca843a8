import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const CSS = readFileSync(new URL('./public/base.css', import.meta.url), 'utf8');
/** WCAG 2.2 AA for text of this size. */
const LEAST = 4.5;

type Theme = ReadonlyMap<string, string>;

/** Each colour is named once, with its two values. */
const NAMED = [...CSS.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
const LIGHT: Theme = new Map(NAMED.map(([, name = '', hex = '']) => [name, hex]));
const DARK: Theme = new Map(NAMED.map(([, name = '', , hex = '']) => [name, hex]));

function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(theme: Theme, text: string, back: string): number {
  const of = (name: string): number => luminance(theme.get(name) ?? '#000000');
  const [light = 0, dark = 0] = [of(text), of(back)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
])('the colours of the console, %s', (_name, theme) => {
  it.each([
    ...['ok', 'bad', 'warn'].map((kind) => [kind, `${kind}-back`] as const),
    ...['page', 'card', 'raised'].flatMap((back) => [['ink', back] as const, ['soft', back] as const]),
    ['new', 'card'],
    ['bad', 'card'],
    ['card', 'ink'],
    ['on-act', 'act'],
  ] as const)('can be read: %s on %s', (text, back) => {
    expect(theme.has(text) && theme.has(back)).toBe(true);
    expect(contrast(theme, text, back)).toBeGreaterThanOrEqual(LEAST);
  });
});

it('all have a value for each theme, whether the system asks for it or the page was told to', () => {
  const declared = [...CSS.matchAll(/--([\w-]+):/g)].map(([, name]) => name);
  expect(declared).toEqual([...LIGHT.keys()]);
  expect(LIGHT.size).toBe(new Set(declared).size);
});

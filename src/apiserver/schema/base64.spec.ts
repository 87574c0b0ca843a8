import { expect, it } from 'vitest';
import { canonicalBase64 } from './base64.js';

it.each([
  ['AAAA', 'AAAA'],
  ['A\nA=\r=\n', 'AA=='],
  ['Zh==', 'Zg=='],
])('reads base64 as Go does, which skips line breaks and loose bits: %j', (text, canonical) => {
  expect(canonicalBase64(text)).toBe(canonical);
});

it.each([
  ['Bogus', 4],
  ['x'.repeat(254), 252],
  ['AA', 0],
  ['AA=', 3],
  ['=', 0],
  ['AAAAA===', 5],
  ['AA=x', 2],
  ['AA==x', 4],
  ['é', 0],
])('says where %j stops to be base64: %d', (text, at) => {
  expect(() => canonicalBase64(text)).toThrow(`illegal base64 data at input byte ${at}`);
});

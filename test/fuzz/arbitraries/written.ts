import fc from 'fast-check';
import type { HostileRequest } from '../fuzzed-server.js';
import { APPLY_PATCH } from '../seeds/index.js';
import { mutated } from './objects.js';
import { jsonTexts } from './texts.js';
import { hostileValue } from './values.js';

/** The group of the definitions and the policies. */
export const GROUP = 'fuzz.example.com';
/** Lets an apply take over fields that other managers own. */
export const FORCED = 'fieldManager=fuzz&force=true';

/** One of twenty is wrong: of so many parts, many would make none right. */
export function mostly<T>(right: fc.Arbitrary<T>, wrong: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 19, arbitrary: right }, { weight: 1, arbitrary: wrong });
}

export function mostlyRight(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: value },
    { weight: 3, arbitrary: mutated(value, { maxLength: 2 }) },
    { weight: 1, arbitrary: hostileValue },
  );
}

/** Made, or changed where it is there. */
export function applied(path: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<HostileRequest> {
  return written('PATCH', `${path}?${FORCED}`, APPLY_PATCH, body);
}

export function written(
  method: string,
  path: string,
  contentType: string,
  body: fc.Arbitrary<unknown>,
): fc.Arbitrary<HostileRequest> {
  return jsonTexts(body).map((text) => ({
    method,
    path,
    headers: { 'content-type': contentType },
    body: text,
  }));
}

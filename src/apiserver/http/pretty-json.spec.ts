import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import { isPrettyAsked, PrettyJson } from './pretty-json.js';

describe('JSON for people', () => {
  it('is indented as JSON.stringify does it, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(fc.nat(200)), fc.boolean(), (value, cuts, isIndented) => {
        const text = JSON.stringify(value, null, isIndented ? 1 : undefined);
        const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        const pretty = new PrettyJson();
        const pieces = at.slice(1).map((end, index) => pretty.write(text.slice(at[index], end)));
        expect(pieces.join('')).toBe(JSON.stringify(value, null, 2));
      }),
      propertyRuns({ gate: 200 }),
    );
  });

  it.each([
    ['pretty=true', {}, true],
    ['pretty=1', { 'user-agent': 'kubectl/v1.36' }, true],
    ['pretty=false', { 'user-agent': 'curl/8.5' }, false],
    ['pretty=yes', {}, false],
    ['', { 'user-agent': 'curl/8.5' }, true],
    ['', { 'user-agent': 'Mozilla/5.0 (X11)' }, true],
    ['pretty=', { 'user-agent': 'Wget/1.2' }, true],
    ['', { 'user-agent': 'kubectl/v1.36' }, false],
    ['', { accept: 'application/json;pretty=1' }, true],
    ['', {}, false],
  ])('is asked for by the query or by the client: %j %j', (query, headers, isPretty) => {
    expect(isPrettyAsked({ query: new URLSearchParams(query), headers })).toBe(isPretty);
  });
});

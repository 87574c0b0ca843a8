import { describe, expect, it } from 'vitest';
import { readFeatureGates } from './feature-gates.js';

const KNOWN = ['One', 'Other'];

describe('a list of feature gates', () => {
  it.each([
    ['', []],
    ['One=true', ['One']],
    ['One=false', []],
    [' One=1 , Other=T,', ['One', 'Other']],
    ['One=true,One=false', []],
  ])('%j enables %j', (text, names) => {
    const read = readFeatureGates(text, KNOWN);
    expect('enabled' in read && [...read.enabled]).toEqual(names);
  });

  it.each([
    ['One', 'missing bool value for One'],
    ['One=yes', 'invalid value of One: yes is neither true nor false'],
    ['toString=true', 'unrecognized feature gate: toString; known: One, Other'],
    ['One=toString', 'invalid value of One: toString is neither true nor false'],
  ])('%j is refused', (text, problem) => {
    expect(readFeatureGates(text, KNOWN)).toEqual({ problem });
  });
});

import { describe, expect, it } from 'vitest';
import { selectorWords } from './disruption-controller.js';

describe('a selector in the words of an Event', () => {
  it.each([
    [{}, '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}'],
    [
      { matchLabels: { tier: 'db', app: 'web' } },
      '&LabelSelector{MatchLabels:map[string]string{app: web,tier: db,},MatchExpressions:[]LabelSelectorRequirement{},}',
    ],
    [
      { matchExpressions: [{ key: 'app', operator: 'In', values: ['a', 'b'] }] },
      '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:app,Operator:In,Values:[a b],},},}',
    ],
  ])('%j', (selector, words) => {
    expect(selectorWords(selector)).toBe(words);
  });
});

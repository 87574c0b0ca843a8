import { describe, expect, it } from 'vitest';
import type { AccessAttributes } from '../../cel/library/access-attributes.js';
import { describeRights, ruleAllows, uncovered } from './policy-rule.js';
import type { PolicyRule } from './policy-rule.js';

function onPods(over: Partial<AccessAttributes> = {}): AccessAttributes {
  return {
    verb: 'get',
    group: '',
    resource: 'pods',
    subresource: '',
    namespace: 'a',
    name: 'p',
    ...over,
  };
}

const RULE: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };

describe('a rule', () => {
  it.each<[string, PolicyRule, AccessAttributes, boolean]>([
    ['allows what it names', RULE, onPods(), true],
    ['says nothing of other verbs', RULE, onPods({ verb: 'list' }), false],
    ['says nothing of other groups', RULE, onPods({ group: 'apps' }), false],
    ['says nothing of subresources', RULE, onPods({ subresource: 'log' }), false],
    [
      'names a subresource behind a slash',
      { ...RULE, resources: ['pods/log'] },
      onPods({ subresource: 'log' }),
      true,
    ],
    ['of a subresource says nothing of the resource', { ...RULE, resources: ['pods/log'] }, onPods(), false],
    [
      'may be of a subresource of all',
      { ...RULE, resources: ['*/scale'] },
      onPods({ subresource: 'scale' }),
      true,
    ],
    [
      'of all resources is of their subresources too',
      { ...RULE, resources: ['*'] },
      onPods({ subresource: 'log' }),
      true,
    ],
    [
      'of all groups and verbs',
      { ...RULE, apiGroups: ['*'], verbs: ['*'] },
      onPods({ group: 'x', verb: 'y' }),
      true,
    ],
    ['may be of certain names', { ...RULE, resourceNames: ['p', 'q'] }, onPods(), true],
    ['of certain names says nothing of others', { ...RULE, resourceNames: ['q'] }, onPods(), false],
    ['of certain names says nothing of all', { ...RULE, resourceNames: ['p'] }, onPods({ name: '' }), false],
    ['of paths is not of resources', { nonResourceURLs: ['*'], verbs: ['*'] }, onPods(), false],
    ['of resources is not of paths', { ...RULE, resources: ['*'] }, { path: '/pods', verb: 'get' }, false],
    ['names a path', { nonResourceURLs: ['/apis'], verbs: ['get'] }, { path: '/apis', verb: 'get' }, true],
    [
      'of a path says nothing of those below',
      { nonResourceURLs: ['/apis'], verbs: ['get'] },
      { path: '/apis/x', verb: 'get' },
      false,
    ],
    [
      'names all below a path',
      { nonResourceURLs: ['/apis/*'], verbs: ['get'] },
      { path: '/apis/x/y', verb: 'get' },
      true,
    ],
    [
      'of all below a path says nothing of the path',
      { nonResourceURLs: ['/apis/*'], verbs: ['get'] },
      { path: '/apis', verb: 'get' },
      false,
    ],
  ])('%s', (_name, rule, attributes, allowed) => {
    expect(ruleAllows(rule, attributes)).toBe(allowed);
  });
});

describe('rights', () => {
  it('are covered by those who have them, or all', () => {
    const wanted = [{ apiGroups: ['', 'apps'], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] }];
    const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    expect(uncovered(wanted, all)).toEqual([]);
    expect(uncovered(wanted, wanted)).toEqual([]);
    expect(uncovered(all, wanted)).toEqual(all);
  });

  it('to all objects are not covered by those to some', () => {
    const some = [{ ...RULE, resourceNames: ['a'] }];
    expect(uncovered([RULE], some)).toEqual([RULE]);
    expect(uncovered(some, [RULE])).toEqual([]);
    expect(uncovered([{ ...RULE, resourceNames: ['a', 'b'] }], some)).toEqual([
      { ...RULE, resourceNames: ['b'] },
    ]);
  });

  it('are refused or covered as a whole if a rule has more of them than can be compared one by one', () => {
    const many = (text: string): string[] => Array.from({ length: 5000 }, (_, index) => `${text}${index}`);
    const rule = { apiGroups: many('g'), resources: many('r'), verbs: many('v') };
    expect(uncovered([rule], [RULE])).toEqual([rule]);
    expect(uncovered([rule], [rule])).toEqual([]);
    expect(uncovered([rule], [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])).toEqual([]);
  });

  it('are shown, where they miss, as a genuine server shows them: the verbs of a resource together, sorted', () => {
    const wanted = [
      { apiGroups: [''], resources: ['secrets', 'pods'], verbs: ['get', 'list'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'], resourceNames: ['web'] },
    ];
    expect(describeRights(uncovered(wanted, []))).toBe(
      [
        '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["web"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
      ].join('\n'),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { creationOf, admittedPod, kinds } from './admission.fixture.js';
import {
  policyNameOf,
  selectionOfBinding,
  selectionOfPolicy,
  selectionsOfConfiguration,
} from './salvage-selection.js';
import { matchRequest } from './webhooks/match-request.js';
import type { Selection } from './webhooks/webhook.js';

const labelsOf = () => ({ team: 'a' });
const mayMatchPod = (selections: readonly (Selection | undefined)[]): boolean =>
  selections.some(
    (selection) =>
      selection && matchRequest(selection, creationOf(admittedPod()), kinds, labelsOf) !== undefined,
  );

const CREATES = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };
const DELETES = { ...CREATES, operations: ['DELETE'] };
const BROKEN = { name: 5 };

describe('requests that an unreadable webhook configuration may be for', () => {
  it.each([
    ['nothing can be read', undefined],
    ['it is another type', 5],
    ['its webhooks are no list', { webhooks: 5 }],
    ['a webhook is nothing', { webhooks: [null] }],
    ['its rules are no list', { webhooks: [{ rules: 5 }] }],
    ['a rule is nothing', { webhooks: [{ rules: [null] }] }],
    ['a part of a rule has another type', { webhooks: [{ rules: [{ ...DELETES, operations: 5 }] }] }],
    ['a selector has another type', { webhooks: [{ rules: [CREATES], namespaceSelector: 5 }] }],
    ['labels are no texts', { webhooks: [{ rules: [CREATES], objectSelector: { matchLabels: { a: 1 } } }] }],
    [
      'a requirement is not known',
      {
        webhooks: [
          {
            rules: [CREATES],
            namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Like', values: ['b'] }] },
          },
        ],
      },
    ],
    ['the rest is readable', { webhooks: [{ ...BROKEN, rules: [CREATES] }] }],
    ['its policy of failures cannot be read', { webhooks: [{ rules: [CREATES], failurePolicy: 5 }] }],
    ['one of several webhooks is', { webhooks: [{ rules: [DELETES] }, { rules: 5 }] }],
  ])('is a pod where %s', (_case, object) => {
    expect(mayMatchPod(selectionsOfConfiguration(object))).toBe(true);
  });

  it.each([
    ['its rules say so', { webhooks: [{ ...BROKEN, rules: [DELETES] }] }],
    ['its failures are to be ignored', { webhooks: [{ rules: 5, failurePolicy: 'Ignore' }] }],
    [
      'its selector says so',
      { webhooks: [{ ...BROKEN, rules: [CREATES], namespaceSelector: { matchLabels: { team: 'b' } } }] },
    ],
    ['it has no webhooks', { webhooks: [] }],
  ])('is no pod where %s', (_case, object) => {
    expect(mayMatchPod(selectionsOfConfiguration(object))).toBe(false);
  });

  it('is never a configuration: it can be put right', () => {
    const kind = kinds.find('admissionregistration.k8s.io', 'v1', 'validatingwebhookconfigurations')!;
    const [selection] = selectionsOfConfiguration(undefined);
    const attributes = { ...creationOf(admittedPod()), kind, namespace: '' };
    expect(matchRequest(selection!, attributes, kinds, labelsOf)).toBeUndefined();
  });
});

describe('requests that an unreadable policy may be for', () => {
  const matching = (matchConstraints: unknown, more = {}) =>
    selectionOfPolicy({ spec: { validations: 5, matchConstraints, ...more } });

  it('is what its constraints say, and what they exclude is not', () => {
    expect(mayMatchPod([matching({ resourceRules: [CREATES] })])).toBe(true);
    expect(mayMatchPod([matching({ resourceRules: [DELETES] })])).toBe(false);
    expect(mayMatchPod([matching({ resourceRules: [CREATES], excludeResourceRules: [CREATES] })])).toBe(
      false,
    );
  });

  it('is everything where they cannot be read, and a broken exclusion excludes nothing', () => {
    for (const constraints of [undefined, 5, { resourceRules: 5 }])
      expect(mayMatchPod([matching(constraints)])).toBe(true);
    const excludeResourceRules = [{ ...CREATES, scope: 5 }, null];
    expect(mayMatchPod([matching({ resourceRules: [CREATES], excludeResourceRules })])).toBe(true);
    expect(mayMatchPod([selectionOfPolicy(undefined)])).toBe(true);
  });

  it('is nothing where its failures are to be ignored', () => {
    expect(matching({ resourceRules: [CREATES] }, { failurePolicy: 'Ignore' })).toBeUndefined();
  });
});

describe('requests that an unreadable binding may be for', () => {
  it('is what the policy that it names is for, within its own resources, or everything', () => {
    const spec = { policyName: 'p', matchResources: { resourceRules: [DELETES] }, validationActions: 5 };
    expect(policyNameOf({ spec })).toBe('p');
    expect(mayMatchPod([selectionOfBinding({ spec })])).toBe(false);
    expect(mayMatchPod([selectionOfBinding({ spec: { ...spec, matchResources: 5 } })])).toBe(true);
    expect(policyNameOf({ spec: [] })).toBeUndefined();
    expect(mayMatchPod([selectionOfBinding(undefined)])).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { admittedPod, creationOf, kinds } from '../admission.fixture.js';
import type { WriteAttributes } from '../attributes.js';
import { matchRequest } from './match-request.js';
import { compileSelection } from './webhook.js';

const PODS = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE' as const], resources: ['pods'] };

function requestFor(
  [group, version, resource]: readonly [string, string, string],
  more: Partial<WriteAttributes> = {},
): WriteAttributes {
  return { ...creationOf(admittedPod()), kind: kinds.find(group, version, resource)!, ...more };
}

/** The kind and version in which it is sent to the webhook; undefined if it does not match. */
function shownAs(
  said: Parameters<typeof compileSelection>[0],
  request: WriteAttributes = creationOf(admittedPod()),
  labels: Record<string, string> = {},
): string | undefined {
  const shown = matchRequest(compileSelection(said), request, kinds, () => labels);
  return shown && `${shown.type.resource}.${shown.type.version}.${shown.type.group}`;
}

describe('A rule', () => {
  it.each([
    [PODS, true],
    [{ ...PODS, operations: ['*'] }, true],
    [{ ...PODS, operations: ['UPDATE'] }, false],
    [{ ...PODS, apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }, true],
    [{ ...PODS, apiGroups: ['apps'] }, false],
    [{ ...PODS, resources: ['pods/status'] }, false],
    [{ ...PODS, resources: ['pods/*'] }, true],
    [{ ...PODS, scope: 'Cluster' }, false],
    [{ ...PODS, scope: 'Namespaced' }, true],
    [{ ...PODS, resourceNames: ['other'] }, false],
    [{ ...PODS, resourceNames: ['p'] }, true],
  ])('%j means the creation of a pod: %s', (rule, isMeant) => {
    expect(shownAs({ resourceRules: [rule as typeof PODS] }) !== undefined).toBe(isMeant);
  });

  it('means subresources only when it says so', () => {
    const status = requestFor(['', 'v1', 'pods'], { operation: 'UPDATE', subresource: 'status' });
    const rule = (...resources: string[]) => ({
      resourceRules: [{ ...PODS, operations: ['*' as const], resources }],
    });
    expect(shownAs(rule('pods'), status)).toBeUndefined();
    expect(shownAs(rule('*'), status)).toBeUndefined();
    expect(shownAs(rule('pods/status'), status)).toBeDefined();
    expect(shownAs(rule('*/*'), status)).toBeDefined();
  });

  it('means other versions of the same objects as well, unless it is exact', () => {
    const request = requestFor(['autoscaling', 'v2', 'horizontalpodautoscalers']);
    const resourceRules = [
      { ...PODS, apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] },
    ];
    expect(shownAs({ resourceRules }, request)).toBe('horizontalpodautoscalers.v1.autoscaling');
    expect(shownAs({ resourceRules, matchPolicy: 'Exact' }, request)).toBeUndefined();
  });

  it('means less what is excluded', () => {
    expect(shownAs({ resourceRules: [PODS], excludeResourceRules: [PODS] })).toBeUndefined();
  });

  it('never means what decides who is let in', () => {
    const everything = {
      apiGroups: ['*'],
      apiVersions: ['*'],
      operations: ['*' as const],
      resources: ['*/*'],
    };
    const group = 'admissionregistration.k8s.io';
    for (const resource of ['validatingwebhookconfigurations', 'validatingadmissionpolicies'])
      expect(shownAs({ resourceRules: [everything] }, requestFor([group, 'v1', resource]))).toBeUndefined();
  });
});

describe('A selector', () => {
  const resourceRules = [{ ...PODS, operations: ['*' as const], resources: ['*'] }];
  const namespaceSelector = { matchLabels: { team: 'shop' } };

  it('matches namespaces by the labels of the namespace, or its own of a namespace', () => {
    expect(shownAs({ resourceRules, namespaceSelector }, undefined, { team: 'shop' })).toBeDefined();
    expect(shownAs({ resourceRules, namespaceSelector }, undefined, { team: 'other' })).toBeUndefined();
    const namespace = (labels: Record<string, string>) =>
      requestFor(['', 'v1', 'namespaces'], {
        namespace: '',
        object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', labels } },
      });
    expect(shownAs({ resourceRules, namespaceSelector }, namespace({ team: 'shop' }))).toBeDefined();
    expect(shownAs({ resourceRules, namespaceSelector }, namespace({}), { team: 'shop' })).toBeUndefined();
  });

  it('matches every object that is in no namespace when it selects namespaces', () => {
    const node = requestFor(['', 'v1', 'nodes'], { namespace: '' });
    expect(shownAs({ resourceRules, namespaceSelector }, node)).toBeDefined();
  });

  it('matches objects by their state before or after', () => {
    const labelled = (labels: Record<string, string>): UnstructuredObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', labels },
    });
    const said = { resourceRules, objectSelector: { matchLabels: { on: 'yes' } } };
    const update = (before: object, after: object) =>
      requestFor(['', 'v1', 'pods'], {
        operation: 'UPDATE',
        oldObject: labelled(before as Record<string, string>),
        object: labelled(after as Record<string, string>),
      });
    expect(shownAs(said, update({ on: 'yes' }, {}))).toBeDefined();
    expect(shownAs(said, update({}, { on: 'yes' }))).toBeDefined();
    expect(shownAs(said, update({}, {}))).toBeUndefined();
  });
});

import fc from 'fast-check';
import type { HostileRequest } from '../fuzzed-server.js';
import { APPLY_PATCH } from '../seeds/index.js';
import { anyRule, policyRule } from './cel-rules.js';
import { FORCED, GROUP, applied, mostly } from './written.js';

const REGISTRATION = '/apis/admissionregistration.k8s.io/v1';

/** Policies match only our own group, or they would keep the other attacks away. */
const OF_OURS = {
  resourceRules: [
    { apiGroups: [GROUP], apiVersions: ['*'], resources: ['*'], operations: ['CREATE', 'UPDATE'] },
  ],
};

const policyMessage = mostly<unknown>(
  fc.constantFrom("'a ' + object.spec.a", 'string(object.spec.n)'),
  anyRule,
);

function writtenPolicy(name: string): fc.Arbitrary<HostileRequest> {
  const body = fc
    .record(
      {
        validations: fc.array(
          fc.record(
            { expression: policyRule, messageExpression: policyMessage, message: fc.constant('no') },
            { requiredKeys: ['expression'] },
          ),
          { minLength: 1, maxLength: 3 },
        ),
        variables: fc.array(
          fc.record({ name: mostly(fc.constantFrom('x', 'y'), fc.constant('')), expression: policyRule }),
          {
            maxLength: 2,
          },
        ),
        matchConditions: fc.array(
          fc.record({ name: mostly(fc.constant('x'), fc.constant('')), expression: policyRule }),
          {
            maxLength: 1,
          },
        ),
        auditAnnotations: fc.array(
          fc.record({ key: mostly(fc.constant('x'), fc.constant('')), valueExpression: policyMessage }),
          {
            maxLength: 1,
          },
        ),
        failurePolicy: mostly(fc.constantFrom('Fail', 'Ignore'), fc.constant('x')),
      },
      { requiredKeys: ['validations'] },
    )
    .map((spec) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: OF_OURS,
        ...spec,
      },
    }));
  return applied(`${REGISTRATION}/validatingadmissionpolicies/${name}`, body);
}

function aBinding(name: string): HostileRequest {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Warn', 'Audit'] },
  };
  const path = `${REGISTRATION}/validatingadmissionpolicybindings/${name}?${FORCED}`;
  return { method: 'PATCH', path, headers: { 'content-type': APPLY_PATCH }, body: JSON.stringify(body) };
}

/** Expressions that make a change: an object to be applied, or operations of a JSON patch. */
const mutations = fc.oneof(
  fc.record({
    patchType: fc.constant('ApplyConfiguration'),
    applyConfiguration: fc.record({
      expression: mostly<unknown>(
        fc.constantFrom(
          "Object{spec: Object.spec{a: 'm'}}",
          'Object{spec: Object.spec{n: object.spec.n + 1}}',
          "Object{spec: Object.spec{list: ['m'], map: {'m': 1}}}",
          "Object{metadata: Object.metadata{labels: {'m': object.spec.a}}}",
          'Object{spec: Object.spec{none: 1}}',
          'has(object.spec.n) ? Object{} : Object{spec: Object.spec{n: 10 / object.spec.n}}',
        ),
        anyRule,
      ),
    }),
  }),
  fc.record({
    patchType: fc.constant('JSONPatch'),
    jsonPatch: fc.record({
      expression: mostly<unknown>(
        fc.constantFrom(
          "[JSONPatch{op: 'add', path: '/spec/a', value: 'm'}]",
          "[JSONPatch{op: 'test', path: '/spec/a', value: 'x'}, JSONPatch{op: 'remove', path: '/spec/a'}]",
          "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: 'm'}]",
          "object.spec.list.map(x, JSONPatch{op: 'add', path: '/spec/list/-', value: x + x})",
          "[JSONPatch{op: 'replace', path: '', value: null}]",
          '[]',
        ),
        anyRule,
      ),
    }),
  }),
  fc.record({ patchType: fc.constantFrom('JSONPatch', 'ApplyConfiguration', 'x') }),
);

function writtenMutation(name: string): fc.Arbitrary<HostileRequest> {
  const body = fc
    .record(
      {
        mutations: fc.array(mutations, { minLength: 1, maxLength: 3 }),
        variables: fc.array(fc.record({ name: fc.constantFrom('x', 'y'), expression: policyRule }), {
          maxLength: 2,
        }),
        matchConditions: fc.array(fc.record({ name: fc.constant('x'), expression: policyRule }), {
          maxLength: 1,
        }),
        reinvocationPolicy: mostly(fc.constantFrom('Never', 'IfNeeded'), fc.constant('x')),
        failurePolicy: mostly(fc.constantFrom('Fail', 'Ignore'), fc.constant('x')),
      },
      { requiredKeys: ['mutations', 'reinvocationPolicy'] },
    )
    .map((spec) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: OF_OURS, ...spec },
    }));
  return applied(`${REGISTRATION}/mutatingadmissionpolicies/${name}`, body);
}

function aMutatingBinding(name: string): HostileRequest {
  const body = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  };
  const path = `${REGISTRATION}/mutatingadmissionpolicybindings/${name}?${FORCED}`;
  return { method: 'PATCH', path, headers: { 'content-type': APPLY_PATCH }, body: JSON.stringify(body) };
}

const names = fc.constantFrom('fuzz-1', 'fuzz-2');

/** Policies about the objects of the definitions: what they allow, and what they make of them. */
export const policyRequests: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 3, arbitrary: names.chain(writtenPolicy) },
  { weight: 3, arbitrary: names.chain(writtenMutation) },
  { weight: 1, arbitrary: names.map(aBinding) },
  { weight: 1, arbitrary: names.map(aMutatingBinding) },
);

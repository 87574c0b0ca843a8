import type { ValidatingAdmissionPolicySpec } from '../../../../machinery/generated/types/admissionregistration-v1.js';
import { expect, it } from 'vitest';
import { createKindRegistry } from '../../../kinds/index.js';
import { createSchemaRegistry } from '../../../schema/index.js';
import { checkPolicy } from './check-policy.js';

const DEPLOYMENTS = {
  apiGroups: ['apps'],
  apiVersions: ['v1'],
  operations: ['CREATE' as const],
  resources: ['deployments'],
};

function warningsOf(expression: string, spec: ValidatingAdmissionPolicySpec = {}) {
  return checkPolicy(
    { matchConstraints: { resourceRules: [DEPLOYMENTS] }, validations: [{ expression }], ...spec },
    createKindRegistry(),
    createSchemaRegistry(),
  );
}

it.each([
  'object.spec.replicas > 1 && object.metadata.labels["app"] == "web"',
  'object.spec.template.spec.containers.all(c, c.image.contains("/") && !has(c.securityContext.privileged))',
  'object.metadata.creationTimestamp > timestamp("2026-01-01T00:00:00Z")',
  'object.spec.strategy.rollingUpdate.maxSurge == 1 || object.spec.strategy.rollingUpdate.maxSurge == "25%"',
  'object.spec.template.spec.containers.all(c, quantity(c.resources.limits["cpu"]).isLessThan(quantity("2")))',
  'oldObject == null || authorizer.requestResource.check("approve").allowed()',
])('finds nothing wrong with what the types allow: %s', (expression) => {
  expect(warningsOf(expression)).toEqual([]);
});

it('names the field, the kind and the place of what the types do not allow', () => {
  expect(warningsOf('object.replicas > 1')).toEqual([
    {
      fieldRef: 'spec.validations[0].expression',
      warning:
        "apps/v1, Kind=Deployment: compilation failed: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n",
    },
  ]);
  const validations = [{ expression: 'true', messageExpression: '"at most " + object.spec.replicas' }];
  expect(warningsOf('', { validations })).toMatchObject([
    { fieldRef: 'spec.validations[0].messageExpression' },
  ]);
});

it('knows the type of parameters, and what variables there are', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const variables = [{ name: 'most', expression: 'int(params.data["most"])' }];
  expect(warningsOf('object.spec.replicas <= variables.most', { paramKind, variables })).toEqual([]);
  expect(warningsOf('params.spec.most > 1', { paramKind })[0]?.warning).toContain("undefined field 'spec'");
  expect(warningsOf('variables.least > 1', { variables })[0]?.warning).toContain("undefined field 'least'");
  const typed = [{ name: 'images', expression: 'object.spec.template.spec.containers.map(c, c.image)' }];
  expect(warningsOf('variables.images[0] == 1', { variables: typed })[0]?.warning).toContain(
    "found no matching overload for '_==_' applied to '(string, int)'",
  );
});

it('checks each kind that is named, and none that is meant by a star', () => {
  const rule = { ...DEPLOYMENTS, resources: ['deployments', 'daemonsets'] };
  const both = warningsOf('object.spec.replicas > 1', { matchConstraints: { resourceRules: [rule] } });
  expect(both[0]?.warning).toMatch(/^apps\/v1, Kind=DaemonSet: .*undefined field 'replicas'/);
  expect(both[0]?.warning).not.toContain('Deployment');
  const some = { ...DEPLOYMENTS, resources: ['*', 'deployments/scale', 'deployments'] };
  expect(warningsOf('object.replicas > 1', { matchConstraints: { resourceRules: [some] } })).toHaveLength(1);
  const all = { ...DEPLOYMENTS, apiVersions: ['v1', '*'] };
  expect(warningsOf('object.replicas > 1', { matchConstraints: { resourceRules: [all] } })).toEqual([]);
  const any = { ...DEPLOYMENTS, resources: ['*'] };
  expect(warningsOf('object.replicas > 1', { matchConstraints: { resourceRules: [any] } })).toEqual([]);
});

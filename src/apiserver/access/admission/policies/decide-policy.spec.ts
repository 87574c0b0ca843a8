import { describe, expect, it } from 'vitest';
import { compilePolicy, decidePolicy } from './decide-policy.js';
import type { Policy } from './decide-policy.js';
import { authorizerFor } from '../request-authority.js';
import { requestBudget } from '../request-expressions.js';
import type { Verdict } from './decide-policy.js';
import { admittedPod, creationOf } from '../admission.fixture.js';

type Spec = NonNullable<Policy['spec']>;

const VALUES = {
  object: { metadata: { name: 'web', labels: { app: 'web' } }, spec: { replicas: 7 } },
  oldObject: null,
  request: { operation: 'CREATE', userInfo: { username: 'eve' } },
  params: { data: { most: 5 } },
  namespaceObject: { metadata: { name: 'shop' } },
  authorizer: authorizerFor(
    {
      ...creationOf(admittedPod()),
      caller: { user: { username: 'eve', groups: [] }, warn: () => undefined },
    },
    {
      decide: ({ username, groups }, question) => ({
        allowed: username === 'eve' || groups.includes('system:serviceaccounts:ops'),
        reason: JSON.stringify(question),
      }),
    },
  ),
};

function objections(spec: Spec, values: object = {}): string[] {
  return verdict(spec, values).objections.map(({ message, reason }) => `${reason}: ${message}`);
}

function verdict(spec: Spec, values: object = {}): Verdict {
  const policy = compilePolicy({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec,
  });
  return decidePolicy(policy, { ...VALUES, ...values }, requestBudget());
}

describe('A policy', () => {
  it('lets pass what all its rules allow', () => {
    expect(
      objections({ validations: [{ expression: 'object.spec.replicas <= 7' }, { expression: 'true' }] }),
    ).toEqual([]);
  });

  it('objects with the message that was made, or given, or the expression itself', () => {
    const expression = 'object.spec.replicas <= params.data.most';
    const messageExpression =
      "'at most ' + string(params.data.most) + ' in ' + namespaceObject.metadata.name";
    expect(objections({ validations: [{ expression, messageExpression, message: 'no' }] })).toEqual([
      'Invalid: at most 5 in shop',
    ]);
    expect(objections({ validations: [{ expression, message: 'too many', reason: 'Forbidden' }] })).toEqual([
      'Forbidden: too many',
    ]);
    expect(objections({ validations: [{ expression }] })).toEqual([
      `Invalid: failed expression: ${expression}`,
    ]);
    const useless = ["''", "'two\\nlines'", 'object.nowhere', '1'].map((text) => ({
      expression: 'false',
      messageExpression: text,
      message: 'given',
    }));
    expect(objections({ validations: useless })).toEqual(Array.from(useless, () => 'Invalid: given'));
  });

  it('sees that there is no namespace, and what a request does not say', () => {
    const none = { namespaceObject: null };
    const rules = ['namespaceObject == null', '!has(request.namespace)', 'oldObject == null'].map(
      (expression) => ({ expression }),
    );
    expect(objections({ validations: rules }, none)).toEqual([]);
    expect(objections({ validations: [{ expression: 'namespaceObject != null' }] })).toEqual([]);
  });

  it('computes variables from those before', () => {
    const variables = [
      { name: 'most', expression: 'params.data.most' },
      { name: 'excess', expression: 'object.spec.replicas - variables.most' },
      {
        name: 'names',
        expression: "object.metadata.labels.map(key, key + '=' + object.metadata.labels[key])",
      },
    ];
    const messageExpression = "string(variables.excess) + ' more than allowed for ' + variables.names[0]";
    expect(
      objections({ variables, validations: [{ expression: 'variables.excess <= 0', messageExpression }] }),
    ).toEqual(['Invalid: 2 more than allowed for app=web']);
  });

  it('objects when an expression fails, unless failures are to be ignored', () => {
    const validations = [{ expression: 'object.spec.missing > 0' }];
    expect(objections({ validations })[0]).toMatch(
      /^Invalid: expression 'object.spec.missing > 0' resulted in error: .*missing/,
    );
    expect(objections({ validations, failurePolicy: 'Ignore' })).toEqual([]);
    expect(objections({ validations: [{ expression: 'object.' }] })[0]).toMatch(
      /^Invalid: compilation error: /,
    );
  });

  it('minds a variable that fails only where it is used', () => {
    const variables = [{ name: 'bad', expression: 'object.nowhere' }];
    expect(objections({ variables, validations: [{ expression: 'true' }] })).toEqual([]);
    expect(objections({ variables, validations: [{ expression: 'variables.bad == 1' }] })[0]).toMatch(
      /^Invalid: composited variable "bad" fails to evaluate: /,
    );
  });

  it('is for requests that meet all its conditions; one that is not met outweighs one that fails', () => {
    const condition = (expression: string) => ({ name: 'c', expression });
    const validations = [{ expression: 'false', message: 'no' }];
    expect(
      objections({ validations, matchConditions: [condition("request.userInfo.username == 'eve'")] }),
    ).toEqual(['Invalid: no']);
    expect(
      objections({ validations, matchConditions: [condition('false'), condition('object.nowhere')] }),
    ).toEqual([]);
    expect(objections({ validations, matchConditions: [condition('object.nowhere')] })[0]).toMatch(
      /resulted in error/,
    );
  });

  it('sees null where there is no state before, and where there are no parameters', () => {
    expect(
      objections({ validations: [{ expression: 'oldObject == null && params == null' }] }, { params: null }),
    ).toEqual([]);
  });

  it('does not compute for ever', () => {
    const list = `[${Array.from({ length: 100 }, (_, index) => index).join(',')}]`;
    const expression = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`;
    expect(objections({ validations: [{ expression }] })).toEqual([
      'Invalid: validation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });

  it.each([
    'authorizer.group("apps").resource("deployments").namespace("a").check("create").allowed()',
    'authorizer.path("/healthz").check("get").reason() == \'{"path":"/healthz","verb":"get"}\'',
    'authorizer.requestResource.check("delete").reason().contains(\'"resource":"pods"\')',
    'authorizer.requestResource.subresource("status").name("x").check("get").reason().contains(\'"name":"x"\')',
    'authorizer.serviceAccount("ops", "robot").group("").resource("pods").check("get").allowed()',
    '!authorizer.serviceAccount("dev", "robot").group("").resource("pods").check("get").allowed()',
    'authorizer.group("").resource("pods").labelSelector("a=b").check("list").error() == ""',
    'variables.check.allowed() && !variables.check.errored()',
  ])('asks what somebody may do: %s', (expression) => {
    const variables = [{ name: 'check', expression: 'authorizer.group("").resource("pods").check("get")' }];
    expect(objections({ variables, validations: [{ expression }] })).toEqual([]);
  });

  it('asks for nothing in vain, not more often than it may, and not in messages', () => {
    const refusals = [
      'authorizer.path(" ").check("get").allowed()',
      'authorizer.group("").resource("").check("get").allowed()',
      'authorizer.serviceAccount("ops", "no@name").path("/").check("get").allowed()',
      Array.from({ length: 3 }, () => 'authorizer.path("/x").check("get").allowed()').join(' && '),
    ].map((expression) => objections({ validations: [{ expression }] })[0]);
    expect(refusals).toEqual([
      expect.stringContaining('path must not be empty'),
      expect.stringContaining('resource must not be empty'),
      expect.stringContaining('Invalid service account name'),
      expect.stringContaining('running out of cost budget'),
    ]);
    const messageExpression = 'authorizer.path("/").check("get").reason()';
    expect(objections({ validations: [{ expression: 'false', messageExpression, message: 'no' }] })).toEqual([
      'Invalid: no',
    ]);
  });

  it('keeps the types of variables, null among them', () => {
    const variables = [
      { name: 'none', expression: 'has(object.spec.nothing) ? object.spec.nothing : null' },
      { name: 'most', expression: 'quantity("2Gi")' },
      { name: 'since', expression: 'timestamp("2026-01-02T03:04:05Z")' },
    ];
    const expression =
      'variables.none == null && variables.most.isGreaterThan(quantity("1Gi")) && variables.since.getFullYear() == 2026';
    expect(objections({ variables, validations: [{ expression }] })).toEqual([]);
  });

  it('has texts for the audit log, and refuses what is none', () => {
    const auditAnnotations = [
      { key: 'replicas', valueExpression: '"has " + string(object.spec.replicas) + " "' },
      { key: 'quiet', valueExpression: 'null' },
    ];
    expect(verdict({ auditAnnotations })).toEqual({
      objections: [],
      annotations: [{ key: 'replicas', value: 'has 7' }],
    });
    const wrong = [{ key: 'a', valueExpression: 'object.spec.replicas' }];
    expect(verdict({ auditAnnotations: wrong }).objections).toEqual([
      {
        isFatal: true,
        reason: 'Invalid',
        message: expect.stringContaining(
          "valueExpression 'object.spec.replicas' resulted in unsupported",
        ) as string,
      },
    ]);
    expect(verdict({ auditAnnotations: wrong, failurePolicy: 'Ignore' }).objections).toEqual([]);
  });
});

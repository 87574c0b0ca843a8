import { describe, expect, it } from 'vitest';
import { compilePolicy, decidePolicy } from './decide-policy.js';
import type { Policy } from './decide-policy.js';
import { requestBudget } from './request-expressions.js';

type Spec = NonNullable<Policy['spec']>;

const VALUES = {
  object: { metadata: { name: 'web', labels: { app: 'web' } }, spec: { replicas: 7 } },
  oldObject: null,
  request: { operation: 'CREATE', userInfo: { username: 'eve' } },
  params: { data: { most: 5 } },
  namespaceObject: { metadata: { name: 'shop' } },
};

function objections(spec: Spec, values: object = {}): string[] {
  const policy = compilePolicy({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name: 'p' },
    spec,
  });
  return decidePolicy(policy, { ...VALUES, ...values }, requestBudget()).map(
    ({ message, reason }) => `${reason}: ${message}`,
  );
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
});

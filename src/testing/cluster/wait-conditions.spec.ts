import { describe, expect, it } from 'vitest';
import { conditionOf, describeState } from './wait-conditions.js';

const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', generation: 2 } };
const withStatus = (status: object, replicas = 3) => ({ ...web, spec: { replicas }, status });
const complete = { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 };

describe('a condition', () => {
  it('create and delete look at whether there is an object', () => {
    expect([conditionOf('create')(web), conditionOf('create')(undefined)]).toEqual([true, false]);
    expect([conditionOf('delete')(web), conditionOf('delete')(undefined)]).toEqual([false, true]);
  });

  it.each([
    ['condition=Available', 'True', true],
    ['condition=available', 'True', true],
    ['condition=Available', 'False', false],
    ['condition=Available=False', 'False', true],
    ['condition=Ready', 'True', false],
  ])('%s of an object that says Available=%s: %s', (text, status, expected) => {
    const object = withStatus({ conditions: [{ type: 'Available', status }] });
    expect(conditionOf(text)(object)).toBe(expected);
  });

  it('is not met by a status of an older spec', () => {
    const conditions = [{ type: 'Available', status: 'True' }];
    expect(conditionOf('condition=Available')(withStatus({ observedGeneration: 1, conditions }))).toBe(false);
    expect(conditionOf('condition=Available')(withStatus({ observedGeneration: 2, conditions }))).toBe(true);
  });

  it.each([
    ['everything is new and available', complete, true],
    ['the status is of an older spec', { ...complete, observedGeneration: 1 }, false],
    ['there is no status', {}, false],
    ['some pods are not updated', { ...complete, updatedReplicas: 2 }, false],
    ['old pods are left', { ...complete, replicas: 4 }, false],
    ['some are not available', { ...complete, availableReplicas: 2 }, false],
  ])('rollout, where %s: %s', (_, status, expected) => {
    expect(conditionOf('rollout')(withStatus(status))).toBe(expected);
  });

  it.each(['ready', 'condition', 'condition=', 'condition=A=B=C', ''])('is not %j', (text) => {
    expect(() => conditionOf(text)).toThrow(/is not one of create, delete, rollout/);
  });
});

describe('the state of an object in words', () => {
  it('tells replicas and conditions', () => {
    const status = {
      availableReplicas: 1,
      updatedReplicas: 2,
      conditions: [{ type: 'Available', status: 'False', reason: 'Few', message: 'not enough' }],
    };
    expect(describeState(withStatus(status))).toBe(
      '1 of 3 replicas available, 2 updated; Available=False Few (not enough)',
    );
  });

  it('tells that there is none, or how new it is', () => {
    expect(describeState(undefined)).toBe('it does not exist');
    expect(describeState({ ...web, metadata: { name: 'web', resourceVersion: '7' } })).toBe(
      'it is at resourceVersion 7',
    );
  });
});

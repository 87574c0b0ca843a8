import { describe, expect, it } from 'vitest';
import { HELD } from './decide-partition.js';
import { SetLab } from './set-lab.fixture.js';

const HERE = 'rollkeeper-rollouts';

/** The entry of a tool that applies the partition. */
function appliedBy(manager: string): object {
  const fieldsV1 = { 'f:spec': { 'f:updateStrategy': { 'f:rollingUpdate': { 'f:partition': {} } } } };
  return { manager, operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1 };
}

function forget(lab: SetLab, managers: readonly string[]): void {
  lab.change(({ metadata }) => {
    metadata.annotations = {};
    metadata.managedFields = managers.map(appliedBy);
  });
}

describe('a StatefulSet that loses its policies and the note of its partition in one write', () => {
  it('gets its partition back, although nothing else says that it was held', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    expect(lab.partition).toBe(HELD);
    forget(lab, [HERE]);
    await lab.rest();
    expect(lab.partition).toBe(0);
    await lab.image('db:2');
    expect(lab.versions).toBe('2 2 2 2');
  });

  it.each([[[HERE, 'argocd']], [['argocd']], [[]]])(
    'keeps a partition that %j have applied, and is read once for it',
    async (managers) => {
      const lab = await SetLab.rolledOut({ steps: '1; approve' });
      forget(lab, managers);
      const reads = { count: 0 };
      const get = lab.api.get.bind(lab.api);
      lab.api.get = (...asked) => {
        reads.count += 1;
        return get(...asked);
      };
      await lab.syncOurs();
      expect(lab.partition).toBe(HELD);
      const first = reads.count;
      for (let pass = 0; pass < 5; pass++) await lab.syncOurs();
      expect(reads.count).toBe(first);
    },
  );

  it('is looked at again after it asked for policies, although its strategy has stayed the same', async () => {
    const lab = await SetLab.rolledOut({ steps: '1; approve' });
    const { annotations = {} } = lab.set.metadata;
    forget(lab, ['argocd']);
    await lab.syncOurs();
    lab.change(({ metadata }) => {
      metadata.annotations = { ...annotations };
      metadata.managedFields = [appliedBy(HERE)];
    });
    await lab.syncOurs();
    expect(lab.partition).toBe(HELD);
    forget(lab, [HERE]);
    await lab.rest();
    expect(lab.partition).toBe(0);
  });
});

import { describe, expect, it } from 'vitest';
import { decideReconcileOn } from './create-manager.options.js';

describe('the processes that work on keys', () => {
  it('is every replica where the coordination sees all of them, unless the user says otherwise', () => {
    expect(decideReconcileOn({ lock: 'redis', onlyProcess: false })).toBe('all');
    expect(decideReconcileOn({ lock: 'leases', onlyProcess: false, reach: 'network' })).toBe('all');
    expect(decideReconcileOn({ lock: 'redis', onlyProcess: false, reconcileOn: 'leader' })).toBe('leader');
  });

  it('is the holder of the Lease where the coordination cannot see other processes', () => {
    expect(decideReconcileOn({ lock: 'leases', onlyProcess: false, reach: 'process' })).toBe('leader');
    expect(() =>
      decideReconcileOn({ lock: 'leases', onlyProcess: false, reach: 'process', reconcileOn: 'all' }),
    ).toThrow('reconcileOn: must be leader');
  });

  it('is nobody where neither the coordination nor the lock can see other processes, unless there are none', () => {
    expect(() => decideReconcileOn({ lock: 'redis', onlyProcess: false, reach: 'process' })).toThrow(
      'coordination: cannot see other processes',
    );
    expect(decideReconcileOn({ lock: 'redis', onlyProcess: true, reach: 'process' })).toBe('all');
  });
});

import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../machinery/errors/index.js';
import { compileLeaderElectionOptions } from './leader-election.options.js';

describe('the options of the leader election', () => {
  it('have the documented defaults', () => {
    expect(compileLeaderElectionOptions()).toEqual({
      leaseDurationMs: 2500,
      renewDeadlineMs: 1800,
      retryPeriodMs: 400,
      jitterFactor: 1.2,
      healthToleranceMs: 10_000,
      takeover: 'witness',
      witnessPeriodMs: 80,
      witnessGraceMs: 100,
    });
  });

  it("accept Kubernetes' own choice", () => {
    const calm = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2000 };
    expect(compileLeaderElectionOptions(calm)).toMatchObject(calm);
  });

  it.each([
    {
      name: 'a lease as short as the renew deadline',
      options: { leaseDurationMs: 1800 },
      named: 'leaseDurationMs',
    },
    {
      name: 'a renew deadline as short as the longest retry',
      options: { renewDeadlineMs: 480 },
      named: 'renewDeadlineMs',
    },
    { name: 'a retry period of nothing', options: { retryPeriodMs: 0 }, named: 'retryPeriodMs' },
    { name: 'a negative tolerance', options: { healthToleranceMs: -1 }, named: 'healthToleranceMs' },
    {
      name: 'a duration that is no number',
      options: { leaseDurationMs: Number.NaN },
      named: 'leaseDurationMs',
    },
  ])('refuse $name, naming it', ({ options, named }) => {
    let thrown: unknown;
    try {
      compileLeaderElectionOptions(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidOptionError);
    expect((thrown as InvalidOptionError).option).toBe(`leaderElection.${named}`);
  });
});

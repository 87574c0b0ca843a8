import { expect, it } from 'vitest';
import { FakeClock } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { FaultLog } from './fault-log.js';
import { FaultPlan } from './fault-plan.js';
import { compileFaultsOptions } from './faults.options.js';
import { PlannedDecisions } from './planned-decisions.js';
import type { SeenRequest } from './request-match.js';
import { WatchGates } from './watch-gates.js';

const aRequest = (verb: string): SeenRequest => ({
  ...{ verb, group: '', resource: 'pods', subresource: '', namespace: 'shop', name: '' },
});

function aWorld() {
  const plan = new FaultPlan(compileFaultsOptions({ seed: 1 }));
  const log = new FaultLog(new FakeClock(), silentLogger);
  const gates = new WatchGates();
  return { plan, log, gates, decisions: new PlannedDecisions({ plan, gates, log, watchDelayMs: 250 }) };
}

it('a fault before the effect is the answer, and is noted at once', () => {
  const { decisions, log, plan } = aWorld();
  const planned = plan.failNext({ verb: 'create', code: 500 });
  expect(decisions.decide({ resource: aRequest('create') })?.before).toMatchObject({
    kind: 'status',
    code: 500,
  });
  expect(planned.hits).toBe(1);
  expect(log.records).toMatchObject([{ fault: 'status 500 before', what: 'create pods in shop' }]);
});

it('a fault after the effect leaves the answer alone that refuses, and waits for the next request', async () => {
  const { decisions, log, plan } = aWorld();
  const planned = plan.failNext({ verb: 'create', connection: 'cut', when: 'after' });
  const first = decisions.decide({ resource: aRequest('create') });
  expect(first?.before).toBeUndefined();
  expect(await first?.after?.(409)).toBeUndefined();
  expect([planned.hits, log.records.length]).toEqual([0, 0]);
  const second = decisions.decide({ resource: aRequest('create') });
  expect(await second?.after?.(201)).toMatchObject({ kind: 'cut' });
  expect(planned.hits).toBe(1);
});

it('a watch that is to fail after its effect does not begin', () => {
  const { decisions, plan } = aWorld();
  plan.failNext({ verb: 'watch', code: 500, when: 'after' });
  expect(decisions.decide({ resource: aRequest('watch') })?.before).toMatchObject({ code: 500 });
});

it('a request that addresses no resource passes', () => {
  const { decisions, plan } = aWorld();
  plan.failNext({ code: 500 });
  expect(decisions.decide({ resource: undefined })).toBeUndefined();
});

it('an event is as late as the longest delay of its watch, and by chance ends it', () => {
  const { decisions, gates, log, plan } = aWorld();
  expect(decisions.decideEvent(aRequest('watch'))).toEqual({ delayMs: 0 });
  gates.delay({ resource: 'pods' }, 70);
  const none = compileFaultsOptions().rates;
  plan.setRates({ ...none, watchDelay: 1 });
  expect(decisions.decideEvent(aRequest('watch'))).toEqual({ delayMs: 250 });
  plan.setRates({ ...none, watchCut: 1 });
  expect(decisions.decideEvent(aRequest('watch'))).toEqual({ delayMs: 70, end: 'cut' });
  expect(log.records.map(({ fault }) => fault)).toEqual(['watch delay', 'watch cut']);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Series } from './support/prometheus.js';
import { firesAt, series } from './support/prometheus.js';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const ROOT = join(import.meta.dirname, '..', '..');
const read = (...path: string[]): string => readFileSync(join(ROOT, ...path), 'utf8');
const { groups } = parse(read('helm', 'rollkeeper', 'alerts', 'rollkeeper.rules.yaml')) as {
  groups: { rules: Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

/** A histogram whose observations all fall below `le`. */
function histogram(name: string, labels: string, le: string, bounds: readonly string[]): Series[] {
  return [...bounds, '+Inf'].map((bound) => {
    const counts = bound === '+Inf' || Number(bound) >= Number(le);
    return series(`${name}_bucket{${labels},le="${bound}"}`, counts ? '0+60x30' : '0x30');
  });
}

const leaders = (...values: string[]): Series[] =>
  values.map((value, index) =>
    series(`leader_election_master_status{name="leader",instance="${index}"}`, value),
  );
const QUEUE_BOUNDS = ['0.1', '1', '10'];
const WAIT_BOUNDS = ['0.5', '1', '5'];
const OVERHEAD_BOUNDS = ['0.25', '0.5', '1', '2', '5'];
const FIRST_WRITE = 'rollkeeper_rollout_first_write_seconds';
const OVERHEAD = 'rollkeeper_rollout_overhead_seconds';

/** For each rule, data on which it fires (and when), and data close to it on which it does not. */
const CASES: Readonly<Record<string, { fires: Series[]; at: number; quiet: Series[] }>> = {
  RollkeeperNoLeader: { fires: leaders('0x30', '0x30'), at: 1, quiet: leaders('0x30', '1x30') },
  RollkeeperTwoLeaders: { fires: leaders('1x30', '1x30'), at: 1, quiet: leaders('1x30', '0x30') },
  RollkeeperFewReplicas: { fires: leaders('1x30'), at: 5, quiet: leaders('1x30', '0x30') },
  RollkeeperManyFailovers: {
    fires: [series('rollkeeper_leader_transitions_total{name="leader"}', '0+1x30')],
    at: 5,
    quiet: [series('rollkeeper_leader_transitions_total{name="leader"}', '0+0.2x30')],
  },
  RollkeeperSlotsUnowned: {
    fires: [series('rollkeeper_unowned_slots{instance="a"}', '2x30')],
    at: 2,
    quiet: [series('rollkeeper_unowned_slots{instance="a"}', '2 0x30')],
  },
  RollkeeperSyncsFail: {
    fires: [
      series('controller_runtime_reconcile_errors_total{controller="deployment"}', '0+20x30'),
      series('controller_runtime_reconcile_total{controller="deployment",result="error"}', '0+20x30'),
      series('controller_runtime_reconcile_total{controller="deployment",result="success"}', '0+80x30'),
    ],
    at: 11,
    quiet: [
      series('controller_runtime_reconcile_errors_total{controller="deployment"}', '0+5x30'),
      series('controller_runtime_reconcile_total{controller="deployment",result="success"}', '0+95x30'),
    ],
  },
  RollkeeperPanics: {
    fires: [series('controller_runtime_reconcile_panics_total{controller="deployment"}', '0+1x30')],
    at: 1,
    quiet: [series('controller_runtime_reconcile_panics_total{controller="deployment"}', '7x30')],
  },
  RollkeeperResourceUnreadable: {
    fires: [
      series(
        'rollkeeper_unreadable_resources{controller="garbage-collector",resource="widgets.example.com"}',
        '1x30',
      ),
    ],
    at: 10,
    quiet: [series('rollkeeper_unreadable_resources{controller="deployment",resource="pods"}', '0x30')],
  },
  RollkeeperDeploymentsDegraded: {
    fires: [series('rollkeeper_deployments{state="degraded",instance="a"}', '2x30')],
    at: 10,
    quiet: [
      series('rollkeeper_deployments{state="degraded",instance="a"}', '0x30'),
      series('rollkeeper_deployments{state="blocked",instance="a"}', '2x30'),
    ],
  },
  RollkeeperProblemLasts: {
    fires: [
      series(
        'rollkeeper_oldest_problem_seconds{kind="Deployment",cause="image-pull",instance="a"}',
        '1860+60x30',
      ),
    ],
    at: 5,
    quiet: [
      series(
        'rollkeeper_oldest_problem_seconds{kind="Deployment",cause="image-pull",instance="a"}',
        '600x30',
      ),
      series('rollkeeper_oldest_problem_seconds{kind="",cause="",instance="a"}', '0x30'),
    ],
  },
  RollkeeperKeysParked: {
    fires: [series('rollkeeper_workqueue_parked_keys{name="deployment"}', '1x30')],
    at: 5,
    quiet: [series('rollkeeper_workqueue_parked_keys{name="deployment"}', '0x30')],
  },
  RollkeeperQueueSlow: {
    fires: histogram('workqueue_queue_duration_seconds', 'name="deployment"', '10', QUEUE_BOUNDS),
    at: 11,
    quiet: histogram('workqueue_queue_duration_seconds', 'name="deployment"', '1', QUEUE_BOUNDS),
  },
  RollkeeperQueueDeep: {
    fires: [series('workqueue_depth{name="deployment"}', '1001x30')],
    at: 10,
    quiet: [series('workqueue_depth{name="deployment"}', '1000x30')],
  },
  RollkeeperSyncHangs: {
    fires: [series('controller_runtime_reconcile_timeouts_total{controller="deployment"}', '0+1x30')],
    at: 1,
    quiet: [series('controller_runtime_reconcile_timeouts_total{controller="deployment"}', '7x30')],
  },
  RollkeeperSyncAbandoned: {
    fires: [series('rollkeeper_abandoned_syncs{controller="deployment"}', '1x30')],
    at: 0,
    quiet: [series('rollkeeper_abandoned_syncs{controller="deployment"}', '0x30')],
  },
  RollkeeperApiRequestsFail: {
    fires: [
      series('rest_client_requests_total{code="<error>",method="GET"}', '0+3x30'),
      series('rest_client_requests_total{code="503",method="GET"}', '0+3x30'),
      series('rest_client_requests_total{code="200",method="GET"}', '0+94x30'),
    ],
    at: 6,
    quiet: [
      // Conflicts and refusals are a part of life.
      series('rest_client_requests_total{code="409",method="PUT"}', '0+20x30'),
      series('rest_client_requests_total{code="500",method="PUT"}', '0x30'),
      series('rest_client_requests_total{code="200",method="GET"}', '0+80x30'),
    ],
  },
  RollkeeperCachesBehind: {
    fires: histogram('rollkeeper_caught_up_wait_seconds', 'controller="deployment"', '5', WAIT_BOUNDS),
    at: 11,
    quiet: histogram('rollkeeper_caught_up_wait_seconds', 'controller="deployment"', '0.5', WAIT_BOUNDS),
  },
  RollkeeperRolloutsTimeOut: {
    fires: [series('rollkeeper_rollout_duration_seconds_count{outcome="deadline_exceeded"}', '0+1x30')],
    at: 1,
    quiet: [series('rollkeeper_rollout_duration_seconds_count{outcome="complete"}', '0+5x30')],
  },
  RollkeeperReactsSlowly: {
    fires: histogram(FIRST_WRITE, 'instance="a"', '1', OVERHEAD_BOUNDS),
    at: 11,
    quiet: histogram(FIRST_WRITE, 'instance="a"', '0.5', OVERHEAD_BOUNDS),
  },
  RollkeeperRolloutsSlow: {
    fires: histogram(OVERHEAD, 'instance="a"', '5', OVERHEAD_BOUNDS),
    at: 11,
    quiet: histogram(OVERHEAD, 'instance="a"', '2', OVERHEAD_BOUNDS),
  },
  RollkeeperEventLoopLate: {
    fires: [series('nodejs_eventloop_delay_seconds{percentile="99",instance="a"}', '0.6x30')],
    at: 5,
    quiet: [
      series('nodejs_eventloop_delay_seconds{percentile="99",instance="a"}', '0.02x30'),
      series('nodejs_eventloop_delay_seconds{percentile="100",instance="a"}', '0.6x30'),
    ],
  },
};

describe('the alert rules', () => {
  it('have a case each', () => {
    expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(CASES));
  });

  it.each(rules)('$alert fires when it should, after its time, and not before', (rule) => {
    const { at, fires } = CASES[rule.alert]!;
    expect(firesAt(rule, fires)).toBe(at);
  });

  it.each(rules)('$alert is quiet when all is well', (rule) => {
    const quiet = CASES[rule.alert]!.quiet;
    expect(firesAt(rule, quiet)).toBeUndefined();
    expect(firesAt(rule, [])).toBeUndefined();
  });

  const runbooks = new Map(
    read('docs', 'ALERTS.md')
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
  );

  it('have a runbook each, and there is none for a rule that is gone', () => {
    expect([...runbooks.keys()]).toEqual(rules.map(({ alert }) => alert));
  });

  it.each(rules)(
    '$alert says how bad it is and where its runbook is, which has steps',
    ({ alert, annotations, labels }) => {
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).not.toBe('');
      expect(annotations.runbook_url).toBe(`docs/ALERTS.md#${alert.toLowerCase()}`);
      expect(runbooks.get(alert)).toMatch(/^1\. /m);
    },
  );
});

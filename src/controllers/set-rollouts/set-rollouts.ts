import type { Clock } from '@rollkeeper/machinery/clock';
import type { ControllerDefinition, Kind, ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import { Pod, defineController, own } from '@rollkeeper/runtime';
import type { RolloutChecksOptions } from '../deployment/index.js';
import {
  CheckMeasuring,
  RolloutCheckMeter,
  namespaceDefaults,
  watchNamespaceDefaults,
} from '../deployment/index.js';
import { ControllerRevision } from '../shared/index.js';
import { applySetPlan } from './apply-set.js';
import { asRollout } from './as-rollout.js';
import { StrategiesOfOthers } from './left-unnoted.js';
import type { SetSources } from './observe-set.js';
import { observeSet } from './observe-set.js';
import type { PlannedSet, SeenSet } from './plan-set.js';
import { planSet } from './plan-set.js';
import type { SetKind } from './set-kind.js';
import { setNodes } from './set-nodes.js';
import type { SetObject } from './set-view.js';

export interface SetRolloutsOptions {
  /** Measures the checks of rollouts (docs/ROLLOUTS.md). @default none are measured */
  readonly checks?: RolloutChecksOptions;
}

const WORKERS = 4;

/** The controller that rolls the sets of a kind out by policies, beside their own controller. */
export function createSetRollouts(
  name: string,
  of: SetKind,
  { checks }: SetRolloutsOptions,
): ControllerDefinition {
  const kind: Kind<SetObject> = of.kind;
  return defineController<SetObject, SeenSet, PlannedSet>(
    { name, for: kind, workers: WORKERS, serviceAccount: 'deployment-controller', perNamespace: true },
    ({ clock, informers }) => {
      const nodes = of.isPerNode ? setNodes(informers, kind) : undefined;
      const measuring = checks && new CheckMeasuring(new RolloutCheckMeter(clock, checks), WORKERS);
      const sources: SetSources = {
        ...{ of, clock, defaultsOf: namespaceDefaults(informers), ofOthers: new StrategiesOfOthers() },
        ...(nodes && { nodes }),
        ...(checks && { checkHosts: checks.hosts ?? [] }),
      };
      return {
        observe: (request, context) => observeSet(request, context, sources),
        decide: planSet,
        act: (planned, context) => act(planned, context, clock, measuring),
        owns: [own(Pod, { selected: true }), own(ControllerRevision, { selected: true })],
        watches: [watchNamespaceDefaults(kind), ...(nodes ? [nodes.watched] : [])],
      };
    },
  );
}

async function act(
  { decided, plan, seen }: PlannedSet,
  context: ReconcileContext<SetObject>,
  clock: Clock,
  measuring: CheckMeasuring | undefined,
): Promise<ReconcileResult> {
  await applySetPlan(plan, context);
  const { checks, recheckAfterMs } = decided ?? {};
  const result = recheckAfterMs === undefined ? {} : { requeueAfterMs: recheckAfterMs };
  if (!measuring || !checks || checks.due.length === 0 || seen.as !== 'asked') return result;
  const replicaSet = asRollout(seen.view).replicaSets.find(
    ({ metadata }) => metadata.name === checks.replicaSet,
  );
  if (!replicaSet) return result;
  const { client, events, signal } = context;
  const { lookAgainAfterMs } = await measuring.measure(checks.due, replicaSet, {
    ...{ client, signal, holder: ControllerRevision },
    tell: (note) => events.record(seen.set, note),
    nowMs: () => clock.now(),
  });
  return { requeueAfterMs: Math.min(recheckAfterMs ?? Infinity, lookAgainAfterMs) };
}

import type { ControllerDefinition, Lister, ReconcileContext } from '@rollkeeper/runtime';
import { ReplicaSet, defineController, unlessGone } from '@rollkeeper/runtime';
import { asSent, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { CheckMeasuring } from '../policies/checks/check-measuring.js';
import type { CheckMeter } from '../policies/checks/measure-checks.js';
import { RolloutCheckMeter } from '../policies/checks/rollout-check-meter.js';
import type { RolloutChecksOptions } from '../policies/checks/rollout-checks.options.js';
import type { ExperimentDecision, ExperimentView } from './decide-experiment.js';
import { decideExperiment } from './decide-experiment.js';
import { RESULTS_OF, keepsExperiment } from './experiment-plan.js';
import type { ExperimentState } from './experiment-state.js';
import { EXPERIMENT_STATE, renderExperimentState } from './experiment-state.js';

interface ExperimentsControllerOptions {
  /** @default no checks are measured */
  readonly checks?: RolloutChecksOptions;
  /** Experiments at a time. @default 4 */
  readonly workers?: number;
}

interface ExperimentPlanned {
  readonly view?: ExperimentView;
  readonly decision?: ExperimentDecision;
}

/**
 * Carries on experiments outside of rollouts: begins their time when their pods are available, measures their checks, and removes
 * their pods at the end. Their author has made the ReplicaSets with their own rights; this controller only records and deletes. All
 * state is on the ReplicaSet that keeps the experiment, so any replica continues from it.
 */
export function createExperimentsController({
  checks,
  workers = 4,
}: ExperimentsControllerOptions = {}): ControllerDefinition {
  const hosts = checks && (checks.hosts ?? []);
  return defineController<ReplicaSet, ExperimentView | undefined, ExperimentPlanned>(
    {
      ...{ name: 'experiments', for: ReplicaSet, workers, serviceAccount: 'deployment-controller' },
      // There are few of them, so no queue in Redis idles for them.
      ...{ worksOn: 'leader', queue: 'local', perNamespace: true },
    },
    ({ clock, informers }) => {
      const { lister } = informers.informerFor<ReplicaSet>(ReplicaSet);
      const measuring = checks && measuringOf(new RolloutCheckMeter(clock, checks), lister, workers);
      return {
        predicates: [({ object }) => keepsExperiment(object)],
        owns: [ReplicaSet],
        needsSync: (key) => {
          const keeper = lister.get(key);
          return keeper !== undefined && keepsExperiment(keeper);
        },
        observe: (_request, { object, owned }) => {
          if (!object || !keepsExperiment(object)) return Promise.resolve(undefined);
          return Promise.resolve({ keeper: object, members: owned(ReplicaSet), nowMs: clock.now(), hosts });
        },
        decide: (view) => {
          const decision = view && decideExperiment(view);
          return {
            plan: { ...(view && { view }), ...(decision && { decision }) },
            decision: { branch: 'experiment', summary: summaryOf(decision), changes: changes(decision) },
          };
        },
        act: (planned, context) => act(planned, measuring, context),
      };
    },
  );
}

/** A Job of a check belongs to the ReplicaSet whose pods it is about, so that it goes with it. */
function measuringOf(inner: RolloutCheckMeter, lister: Lister<ReplicaSet>, workers: number): CheckMeasuring {
  const meter: CheckMeter = {
    measure: (due, context) => {
      const { namespace, replicaSet: name } = due.subject;
      const replicaSet = lister.get(keyOf({ namespace, name })) ?? context.replicaSet;
      return inner.measure(due, { ...context, replicaSet });
    },
    onMeasured: (about) => {
      inner.onMeasured(about);
    },
  };
  return new CheckMeasuring(meter, workers);
}

async function act(
  { decision, view }: ExperimentPlanned,
  measuring: CheckMeasuring | undefined,
  context: ReconcileContext<ReplicaSet>,
): Promise<{ readonly requeueAfterMs?: number }> {
  if (!decision || !view) return {};
  const { client, clock, events, signal } = context;
  const { keeper } = view;
  if (decision.state) await client.update(ReplicaSet, withState(keeper, decision.state), { signal });
  if (decision.note) events.record(keeper, decision.note);
  for (const { metadata } of decision.remove)
    await unlessGone(client.delete(ReplicaSet, metadata, { preconditions: { uid: metadata.uid }, signal }));
  if (decision.forget) {
    const { resourceVersion, uid } = keeper.metadata;
    await unlessGone(
      client.delete(ReplicaSet, keeper.metadata, { preconditions: { uid, resourceVersion }, signal }),
    );
    return {};
  }
  const measured =
    measuring && decision.due.length > 0
      ? await measuring.measure(decision.due, keeper, {
          ...{ client, signal, revision: RESULTS_OF },
          nowMs: () => clock.now(),
          tell: (note) => {
            events.record(keeper, note);
          },
        })
      : undefined;
  const waits = [decision.lookAgainAfterMs, measured?.lookAgainAfterMs].flatMap((ms) => ms ?? []);
  return waits.length === 0 ? {} : { requeueAfterMs: Math.max(1, Math.min(...waits)) };
}

function withState(keeper: DeepReadonly<ReplicaSet>, state: ExperimentState): ReplicaSet {
  const { metadata } = keeper;
  const annotations = { ...metadata.annotations, [EXPERIMENT_STATE]: renderExperimentState(state) };
  return asSent<ReplicaSet>({ ...keeper, metadata: { ...metadata, annotations } });
}

function changes(decision: ExperimentDecision | undefined): boolean {
  if (!decision) return false;
  return decision.state !== undefined || decision.remove.length > 0 || decision.forget;
}

function summaryOf(decision: ExperimentDecision | undefined): string {
  if (!decision) return '';
  const { due, forget, note, remove } = decision;
  return [
    ...(note ? [note.message] : []),
    ...(remove.length > 0
      ? [`delete ${remove.map(({ metadata }) => `ReplicaSet ${metadata.name}`).join(', ')}`]
      : []),
    ...(forget ? ['forget its result'] : []),
    ...(due.length > 0 ? [`measure ${due.map(({ run }) => `check ${run.check}`).join(', ')}`] : []),
  ].join('; ');
}

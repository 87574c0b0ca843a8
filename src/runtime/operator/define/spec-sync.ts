import { trace } from '@opentelemetry/api';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, KubernetesObject, Kind } from '@rollkeeper/machinery/kubernetes';
import { isControlledBy } from '@rollkeeper/machinery/kubernetes';
import { OWNER_UID_INDEX } from '@rollkeeper/client/informer';
import type {
  ControllerDependencies,
  DecideStep,
  ReconcileRequest,
  ReconcileResult,
  SyncAccess,
  SyncKey,
} from '../../controller/index.js';
import type { ControllerBehaviour, ReconcileContext } from './controller-spec.js';
import type { NamedCaches } from './named-caches.js';
import { isPaused } from './paused.js';
import { runSteps } from './sync-steps.js';
import { runTellingWrites } from './written-decision.js';

interface SpecSyncParts<T extends KubernetesObject> {
  readonly behaviour: ControllerBehaviour<T>;
  readonly caches: NamedCaches;
  readonly objectOf: (key: string) => DeepReadonly<T> | undefined;
  readonly dependencies: Pick<ControllerDependencies, 'clock' | 'events' | 'logger'>;
  /** See `ControllerTraits`. */
  readonly pausable: boolean;
}

/**
 * Returns the function that the controller calls for each key: it gives the author's steps the rest of their context,
 * and runs them.
 */
export function syncOf<T extends KubernetesObject>(parts: SpecSyncParts<T>): SyncKey {
  const { limit } = parts.behaviour;
  return async (request, access, decide) => {
    if (limit && !limit.includes(request.key)) {
      // Another controller has the key now, and does not know these intents.
      if (access.intents.current !== undefined) access.intents.clear();
      return {};
    }
    if (parts.pausable && isPaused(parts.objectOf(request.key))) {
      parts.dependencies.logger.debug('an object is paused, and left alone', { key: request.key });
      return {};
    }
    return checked(await work(parts, request, access, decide));
  };
}

async function work<T extends KubernetesObject>(
  parts: SpecSyncParts<T>,
  request: ReconcileRequest,
  access: SyncAccess,
  decide: DecideStep,
): Promise<ReconcileResult> {
  const { behaviour } = parts;
  if (!behaviour.reconcile)
    return runSteps(behaviour, request, contextOf(parts, request, access), decide, access.beforeWrites);
  const reconcile = async (client: SyncAccess['client']): Promise<ReconcileResult> =>
    (await behaviour.reconcile(request, contextOf(parts, request, { ...access, client }))) ?? {};
  return runTellingWrites(reconcile, request, access, decide);
}

function checked(result: ReconcileResult): ReconcileResult {
  const { requeueAfterMs = 0 } = result;
  if (!(requeueAfterMs >= 0 && requeueAfterMs < Infinity))
    throw new InvalidOptionError('requeueAfterMs', `${requeueAfterMs} is not a number of milliseconds`);
  return result;
}

/** Logger and span are made when they are asked for: most syncs use neither. */
function contextOf<T extends KubernetesObject>(
  { caches: { listerOf }, dependencies, objectOf }: SpecSyncParts<T>,
  { key }: ReconcileRequest,
  access: SyncAccess,
): ReconcileContext<T> {
  const { clock, events, logger } = dependencies;
  const object = objectOf(key);
  return {
    ...access,
    object,
    lister: listerOf,
    owned: <Owned extends KubernetesObject>(kind: Kind<Owned>) => {
      if (object?.metadata.uid === undefined) return [];
      return listerOf(kind)
        .byIndex(OWNER_UID_INDEX, object.metadata.uid)
        .filter((each) => isControlledBy(each, object));
    },
    events,
    get logger() {
      return logger.child({ key });
    },
    get span() {
      return trace.getActiveSpan() ?? trace.wrapSpanContext(NO_SPAN);
    },
    clock,
  };
}

/** The span if tracing is off: it takes everything and keeps nothing. */
const NO_SPAN = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 };

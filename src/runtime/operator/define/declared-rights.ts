import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import { UnsupportedError } from '@rollkeeper/machinery/errors';
import { Event } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { InformerFactory } from '@rollkeeper/client/informer';
import type { BuiltController, ControllerDependencies, WriteRight } from '../../controller/index.js';

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete'] as const;
const CHANGE = ['update', 'patch'];

/**
 * The rights of a controller: to keep the caches that it names, to write what it says that it writes, and to record Events.
 * @param build makes a life of it, which is not run
 */
export function rightsOf(
  build: (dependencies: ControllerDependencies) => BuiltController,
  writes: readonly WriteRight[],
): readonly PolicyRule[] {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const never = (): never => {
    throw new UnsupportedError('the rights of a controller are asked for, and it does not run');
  };
  const client = { list: never, watch: never };
  const informers = new InformerFactory({ client, clock, random, logger: silentLogger });
  const events = { record: () => undefined };
  const discovery = { discover: never };
  build({ informers, clock, random, logger: silentLogger, events, discovery });
  return [
    ...informers.all().map(({ type }) => rule(type, type.resource, READ)),
    ...writes.flatMap(writeRules),
    rule(Event, Event.resource, ['create', 'patch']),
  ];
}

function writeRules({ kind, subresources = [], verbs = WRITE }: WriteRight): PolicyRule[] {
  return [
    ...(verbs.length > 0 ? [rule(kind, kind.resource, verbs)] : []),
    ...subresources.map((name) =>
      // A posted subresource, as `kubectl drain` posts it, is created.
      rule(kind, `${kind.resource}/${name}`, name === 'eviction' || name === 'binding' ? ['create'] : CHANGE),
    ),
  ];
}

function rule({ group }: ResourceType, resource: string, verbs: readonly string[]): PolicyRule {
  return { apiGroups: [group], resources: [resource], verbs };
}

import { findCondition } from '@rollkeeper/machinery/kubernetes';
import { compileDeviceSelector } from '@rollkeeper/apiserver/device-selectors';
import type { ApiClient } from '@rollkeeper/client/api-client';
import { SystemClock, SystemRandom } from '@rollkeeper/machinery/clock';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { explainPlacement, profilesFor } from '@rollkeeper/scheduler';
import type { PlacementExplanation } from '@rollkeeper/scheduler';
import type { SchedulerFiles } from './scheduler-settings.js';
import { readSchedulerSettings } from './scheduler-settings.js';
import { readPlacementWorld } from './read-placement-world.js';

/**
 * Why a pod is on no node, worked out from the API with the caller's rights by the scheduler's own decision.
 * @param files of the scheduler, where it has any
 * @throws ApiStatusError if the pod cannot be read; InvalidOptionError
 */
export async function explainPod(
  client: ApiClient,
  ref: Required<ObjectRef>,
  files: SchedulerFiles,
): Promise<PlacementExplanation> {
  const { configuration, plugins } = await readSchedulerSettings(files, silentLogger);
  const { nodes, notes, pod, pods, view } = await readPlacementWorld(client, ref);
  const clock = new SystemClock();
  const handle = { view, log: silentLogger, now: () => clock.now(), compileDeviceSelector };
  const profiles = profilesFor(configuration, plugins, handle);
  const explained = explainPlacement({
    pod,
    nodes: nodes ?? [],
    pods,
    view,
    profiles,
    random: new SystemRandom(),
  });
  if (!nodes && (explained.state === 'refused' || explained.state === 'waits')) return unseen(explained, pod);
  return { ...explained, notes };
}

/** Without nodes nothing can be worked out, but what the scheduler wrote can be reported. */
function unseen(
  { pod }: PlacementExplanation,
  { status }: Awaited<ReturnType<typeof readPlacementWorld>>['pod'],
): PlacementExplanation {
  const condition = findCondition(status?.conditions, 'PodScheduled');
  const said = condition?.status === 'False' ? condition.message : undefined;
  return {
    pod,
    state: said === undefined ? 'waits' : 'refused',
    summary:
      'You may not list nodes: why none of them takes the pod cannot be worked out, only what the scheduler last said.',
    ...(said !== undefined && { message: said }),
    obstacles: [],
    nodes: [],
    notes: [],
  };
}

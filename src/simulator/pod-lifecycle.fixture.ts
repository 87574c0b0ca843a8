import type { ObjectMeta, Pod, PodSpec, PodStatus } from '../machinery/kubernetes/index.js';
import type { PodLifecycleFacts, PodPlan } from './decide-pod-lifecycle.js';
import { decidePodLifecycle } from './decide-pod-lifecycle.js';
import { decideContainerEvents } from './container-events.js';
import { BEHAVIOUR_ANNOTATION } from './pod-behaviour.js';
import { newPodMemory, noteStatus } from './pod-runner.js';
import { podOf } from '../testing/pod-builder.js';

export const START = Date.UTC(2026, 0, 1);

export function startingPod(metadata: Partial<ObjectMeta> = {}, spec: Partial<PodSpec> = {}): Pod {
  return podOf({
    metadata: { name: 'pod', uid: 'uid', ...metadata },
    spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'nginx:1.27' }], ...spec },
    status: { phase: 'Pending' },
  });
}

export const behaving = (behaviour: string, more: Record<string, string> = {}): Pod =>
  startingPod({ annotations: { [BEHAVIOUR_ANNOTATION]: behaviour, ...more } });

export function decide(pod: Pod, afterMs = 0, facts: Partial<PodLifecycleFacts> = {}): PodPlan {
  return decidePodLifecycle(pod, {
    nowMs: START + afterMs,
    readyDelayMs: 0,
    terminationDelayMs: 0,
    hostIp: '172.18.0.2',
    podIp: '10.0.0.2',
    ...facts,
  });
}

/** The node's complete history of a pod up to a time: every status it writes, following its own wake-ups, and its events. */
export function play(pod: Pod, untilMs: number, facts: Partial<PodLifecycleFacts> = {}) {
  const written: { atMs: number; status: PodStatus }[] = [];
  const events: string[] = [];
  const memory = newPodMemory();
  let current = pod;
  for (let atMs = 0, steps = 0; atMs <= untilMs; steps++) {
    if (steps > 1000) throw new Error('the pod never rests');
    const plan = decide(current, atMs, { ...memory, ...facts });
    if (plan.action === 'write-status') {
      const begun = plan.pulls?.filter((key) => !memory.pullStartedMs.has(key));
      noteStatus(memory, current.status, plan, START + atMs);
      const notes = decideContainerEvents(current, plan.status, { begun, known: memory.pullStartedMs });
      events.push(...notes.map(({ message, reason, type }) => `${type} ${reason} ${message}`));
      current = { ...current, status: structuredClone(plan.status) };
      written.push({ atMs, status: plan.status });
      continue;
    }
    const wakeAtMs = plan.action === 'rest' ? plan.wakeAtMs : undefined;
    if (wakeAtMs === undefined) break;
    atMs = wakeAtMs - START;
  }
  return { written, events, pod: current };
}

export const condition = (status: PodStatus | undefined, type: string) =>
  status?.conditions?.find((candidate) => candidate.type === type);
/** `running`, or why the first container waits or has ended. */
export const stateWord = (status: PodStatus) => {
  const { terminated, waiting } = status.containerStatuses?.[0]?.state ?? {};
  return waiting?.reason ?? terminated?.reason ?? 'running';
};
export const waitingReason = (status: PodStatus) => status.containerStatuses?.[0]?.state?.waiting?.reason;

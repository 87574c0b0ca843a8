import type { HostPort, PodInfo } from '../framework/node-info.js';
import type { PluginFactory } from '../framework/plugin.js';
import { SKIP, unschedulable } from '../framework/status.js';
import { ANY_ADDRESS, podInfoOf } from '../node/pod-info.js';
import { isOnNode, on, onPods } from './hints.js';

const REFUSAL = unschedulable("node(s) didn't have free ports for the requested pod ports");

/** Refuses nodes on which another pod has one of the pod's host ports. */
export const nodePorts: PluginFactory = () => ({
  name: 'NodePorts',
  eventsToRegister: [
    onPods(
      ['delete'],
      (pod, before) =>
        before !== undefined && isOnNode(before) && areTaken(podInfoOf(pod), podInfoOf(before).hostPorts),
    ),
    on('nodes', 'add'),
  ],
  preFilter: ({ pod }) => (pod.hostPorts.length > 0 ? {} : { status: SKIP }),
  filter: ({ hostPorts }, { pod }) => (areTaken(pod, hostPorts) ? REFUSAL : undefined),
});

function areTaken(pod: PodInfo, taken: readonly HostPort[]): boolean {
  return pod.hostPorts.some((wanted) => taken.some((each) => collide(wanted, each)));
}

function collide(one: HostPort, other: HostPort): boolean {
  return (
    one.port === other.port &&
    one.protocol === other.protocol &&
    (one.ip === other.ip || one.ip === ANY_ADDRESS || other.ip === ANY_ADDRESS)
  );
}

import type { HostPort } from '../framework/node-info.js';
import type { PluginFactory } from '../framework/plugin.js';
import { SKIP, unschedulable } from '../framework/status.js';
import { ANY_ADDRESS } from '../node/pod-info.js';

const REFUSAL = unschedulable("node(s) didn't have free ports for the requested pod ports");

/** Refuses nodes on which another pod has one of the pod's host ports. */
export const nodePorts: PluginFactory = () => ({
  name: 'NodePorts',
  preFilter: ({ pod }) => (pod.hostPorts.length > 0 ? {} : { status: SKIP }),
  filter({ hostPorts }, { pod }) {
    return pod.hostPorts.some((wanted) => hostPorts.some((taken) => collide(wanted, taken)))
      ? REFUSAL
      : undefined;
  },
});

function collide(one: HostPort, other: HostPort): boolean {
  return (
    one.port === other.port &&
    one.protocol === other.protocol &&
    (one.ip === other.ip || one.ip === ANY_ADDRESS || other.ip === ANY_ADDRESS)
  );
}

import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Deployment, RollkeeperDeployment } from '@rollkeeper/machinery/kubernetes';
import { KIND_DIAGNOSES, kindNamed } from '../diagnose/index.js';

/** Every type that has a page in the console: Deployments, and what else can be explained. */
export const OBJECT_TYPES: readonly ResourceType[] = [
  Deployment,
  RollkeeperDeployment,
  ...KIND_DIAGNOSES.map(({ type }) => type),
];

/** By a word as {@link kindNamed} takes it. Undefined: such objects have no page. */
export function objectType(word: string): ResourceType | undefined {
  const wanted = word.toLowerCase();
  if (wanted === `${RollkeeperDeployment.resource}.${RollkeeperDeployment.group}`)
    return RollkeeperDeployment;
  if (/^(deploy|deployments?)(\.(v1\.)?apps)?$/.test(wanted)) return Deployment;
  return kindNamed(word)?.type;
}

/** The word for a type in an address: its plural, with the group where another type has that as well. */
export function wordOf({ group, resource }: ResourceType): string {
  return group === RollkeeperDeployment.group ? `${resource}.${group}` : resource;
}

import { z } from 'zod';
import { DaemonSet, StatefulSet } from '@rollkeeper/runtime';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Deployment, Node, Pod, RollkeeperDeployment } from '@rollkeeper/machinery/kubernetes';
import { namesOf } from '@rollkeeper/machinery/names-of';

/** An act of a person on an object. */
export type Act =
  | { readonly verb: 'scale'; readonly replicas: number }
  | { readonly verb: 'set-image'; readonly container?: string; readonly image: string }
  | { readonly verb: 'pause' | 'resume' | 'restart' | 'evict' | 'cordon' | 'uncordon' | 'drain' };

export type ActVerb = Act['verb'];

/** The author of an act, and the reason. */
export interface ActNote {
  readonly by: string;
  readonly reason?: string;
}

const ROLLED_OUT = [Deployment, RollkeeperDeployment];

/** The kinds that each act is for. */
const KINDS: Readonly<Record<ActVerb, readonly ResourceType[]>> = {
  scale: [...ROLLED_OUT, StatefulSet],
  'set-image': [...ROLLED_OUT, StatefulSet, DaemonSet],
  restart: [...ROLLED_OUT, StatefulSet, DaemonSet],
  pause: ROLLED_OUT,
  resume: ROLLED_OUT,
  evict: [Pod],
  cordon: [Node],
  uncordon: [Node],
  drain: [Node],
};

export const ACT_VERBS = namesOf(KINDS);

/** The type that a path of the admin API names: a plural, `deployments.rollkeeper.dev` for that one. */
export function typeOfAct(verb: ActVerb, plural: string): ResourceType | undefined {
  return KINDS[verb].find(({ group, resource }) => plural === resource || plural === `${resource}.${group}`);
}

const WHO = z
  .string('"by" says who asks')
  .trim()
  .min(1, '"by" says who asks')
  .max(100)
  .regex(/^[^\p{Cc}]+$/u, '"by" is one line of text');
const NOTE = { by: WHO.optional(), reason: z.string().trim().max(300).optional() };
const IMAGE = z
  .string('"image" is the reference of one')
  .trim()
  .min(1, '"image" is the reference of one')
  .max(1000)
  .regex(/^\S+$/, '"image" has no spaces');

const PLAIN = z.strictObject(NOTE);
const SCALE = z.strictObject({
  ...NOTE,
  replicas: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
});
const SET_IMAGE = z.strictObject({ ...NOTE, container: z.string().min(1).max(63).optional(), image: IMAGE });

/** The body of each act in the admin API. */
export const ACT_BODIES = { scale: SCALE, 'set-image': SET_IMAGE, plain: PLAIN } as const;

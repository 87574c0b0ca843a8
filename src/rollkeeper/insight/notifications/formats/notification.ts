import type { DeepReadonly, KubernetesObject, ReplicaSet } from '@rollkeeper/machinery/kubernetes';

/** The events of a rollout that people hear of. */
export const NOTIFIED = [
  'started',
  'step',
  'waiting-for-approval',
  'failed',
  'rolled-back',
  'complete',
] as const;

export type NotifiedEvent = (typeof NOTIFIED)[number];

/** One event of a rollout, in words. Every text may have been written by a user of the namespace. */
export interface Notification {
  readonly event: NotifiedEvent;
  /** The event, and what distinguishes it from others of the same revision. */
  readonly key: string;
  /** The same each time that it is sent. */
  readonly id: string;
  readonly namespace: string;
  readonly name: string;
  /** The UID of the Deployment. */
  readonly uid: string;
  /** The Deployment, as far as an Event names it. */
  readonly about: DeepReadonly<KubernetesObject>;
  readonly revision: string;
  /** The ReplicaSet of the revision. It records the channels that have been notified. */
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  /** One line, without a full stop. */
  readonly title: string;
  /** A sentence or more about it. */
  readonly text: string;
  readonly images: readonly string[];
  /** The person or tool that asked for the revision, if that is known. */
  readonly by?: string;
  /** The cause of a failure. */
  readonly cause?: string;
  /** The page of the rollout in the console. */
  readonly link?: string;
  /** The page of the console that asks for an approval. It signs the user in first. */
  readonly approveLink?: string;
  readonly atMs: number;
}

/** A row of a message. */
export interface Fact {
  readonly name: string;
  readonly value: string;
}

/** The rows below the text, in every format. */
export function factsOf({ by, cause, images, revision }: Notification): readonly Fact[] {
  return [
    { name: 'Revision', value: revision },
    { name: images.length === 1 ? 'Image' : 'Images', value: images.join(', ') },
    ...(by === undefined ? [] : [{ name: 'By', value: by }]),
    ...(cause === undefined ? [] : [{ name: 'Cause', value: cause }]),
  ];
}

/** The links below the text, in every format: the one that acts comes first. */
export function linksOf({ approveLink, link }: Notification): readonly {
  readonly text: string;
  readonly url: string;
}[] {
  return [
    ...(approveLink === undefined ? [] : [{ text: 'Approve', url: approveLink }]),
    ...(link === undefined ? [] : [{ text: 'Open in the console', url: link }]),
  ];
}

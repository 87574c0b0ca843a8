import {
  Job,
  defineController,
  defineCustomKind,
  isAlreadyExists,
  isControlledBy,
  setControllerReference,
  updateStatus,
} from 'rollkeeper';
import type { ObjectOf } from 'rollkeeper';
import { z } from 'zod';

/** Something that is to be saved, once. */
export const Backup = defineCustomKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Backup',
  spec: z.object({ volume: z.string().min(1) }),
  status: z.object({ job: z.string().optional() }),
});
export type Backup = ObjectOf<typeof Backup>;

/** The Job of a backup, which owns it. */
function jobOf(
  backup: Parameters<typeof setControllerReference>[0] & Pick<Backup, 'spec'>,
  metadata: Job['metadata'],
): Job {
  const containers = [{ name: 'backup', image: 'backup:1', args: [backup.spec.volume] }];
  const job: Job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata,
    spec: { template: { spec: { restartPolicy: 'Never', containers } } },
  };
  setControllerReference(backup, job);
  return job;
}

/**
 * Looks right, and is wrong: what it must not do twice it knows by a status that it writes afterwards. Where the answer of the create
 * is lost, or the status cannot be written, it makes a second Job.
 */
export const naiveBackups = defineController({
  name: 'backups',
  for: Backup,
  owns: [Job],
  async reconcile({ namespace = '', name }, { client, object }) {
    if (!object || object.status?.job) return;
    const job = jobOf(object, { name: '', generateName: `${name}-`, namespace });
    const created = await client.create(Job, job);
    await updateStatus(client, Backup, object, { job: created.metadata.name });
  },
});

/**
 * The Job's name follows from the Backup, so the API server itself refuses a second one, even if an answer was lost
 * before.
 */
export const backups = defineController({
  name: 'backups',
  for: Backup,
  owns: [Job],
  async reconcile({ namespace = '', name }, { client, object }) {
    if (!object || object.status?.job) return;
    const job = jobOf(object, { name: `${name}-backup`, namespace });
    await client.create(Job, job).catch(async (error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      const found = await client.get(Job, job.metadata);
      if (!isControlledBy(found, object)) throw error;
    });
    await updateStatus(client, Backup, object, { job: job.metadata.name });
  },
});

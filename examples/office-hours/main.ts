/** Deployments annotated `example.com/office-hours: 08:00-18:00` (UTC) sleep outside of them: scaled to 0, and back. */
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Deployment, TerminalError, annotationsChanged } from 'rollkeeper';
import type { Lister, ReconcileContext, ReconcileRequest, ReconcileResult, Reconciler } from 'rollkeeper';
import { InjectLister, Reconciles, RollkeeperModule } from 'rollkeeper/nest';

const HOURS = 'example.com/office-hours';
const AWAKE = 'example.com/replicas-when-awake';
const MINUTE = 60_000;
const DAY = 1440;

/** Whether the hours are on at this minute of the day, and in how many minutes that changes. */
function look(hours: string, minute: number): { open: boolean; changesIn: number } {
  const [from = 0, to = 0] = hours.split('-').map((time) => {
    const [h = NaN, m = NaN] = time.split(':').map(Number);
    return h * 60 + m;
  });
  if (!(from >= 0 && to <= DAY)) throw new TerminalError(`"${hours}" is not of the form 08:00-18:00`);
  const until = (time: number) => (time - minute + DAY) % DAY || DAY;
  const open = from <= to ? from <= minute && minute < to : minute >= from || minute < to;
  return { open, changesIn: Math.min(until(from), until(to % DAY)) };
}

@Reconciles(Deployment, { predicates: [annotationsChanged], workers: 2 })
export class OfficeHours implements Reconciler<Deployment> {
  constructor(@InjectLister(Deployment) private readonly deployments: Lister<Deployment>) {}

  async reconcile({ key }: ReconcileRequest, context: ReconcileContext): Promise<ReconcileResult> {
    const deployment = this.deployments.get(key);
    const hours = deployment?.metadata.annotations?.[HOURS];
    if (!deployment || !hours) return {};
    const { client, clock, events } = context;
    const { annotations = {}, resourceVersion } = deployment.metadata;
    const { open, changesIn } = look(hours, Math.floor(clock.now() / MINUTE) % DAY);
    const sleeps = annotations[AWAKE] !== undefined;
    if (open === sleeps) {
      const replicas = open ? Number(annotations[AWAKE]) : 0;
      const awake = open ? null : String(deployment.spec.replicas ?? 1);
      const body = { metadata: { resourceVersion, annotations: { [AWAKE]: awake } }, spec: { replicas } };
      await client.patch(Deployment, deployment.metadata, { type: 'merge', body });
      const message = open ? `woken with ${replicas} replicas` : `sleeps until ${hours} is on again`;
      events.record(deployment, { type: 'Normal', reason: 'OfficeHours', message });
    }
    return { requeueAfterMs: changesIn * MINUTE };
  }
}

@Module({
  imports: [RollkeeperModule.forRoot({ name: 'office-hours' }), RollkeeperModule.forFeature([OfficeHours])],
})
class AppModule {}

const app = await NestFactory.create(AppModule);
app.enableShutdownHooks();
await app.listen(Number(process.env['PORT'] ?? 8080));

import type { Clock } from '@rollkeeper/machinery/clock';
import type { CheckVerdict, Measured } from './common/check-verdict.js';
import { hostProblem } from './check-hosts.js';
import { NO_SECRETS, secretsOf } from './check-secrets.js';
import type { DueCheck } from './check-needs.js';
import type { HttpSender } from './common/http-sender.js';
import { UndiciSender } from './common/http-sender.js';
import type { CheckMeter, MeterContext } from './measure-checks.js';
import type { JobRuns } from './measure-job.js';
import { measureJob } from './measure-job.js';
import { measureMetric } from './measure-metric.js';
import { measureWebhook } from './measure-webhook.js';
import type { RolloutChecksOptions } from './rollout-checks.options.js';
import type { RequestSigner } from './signature.js';
import { fileSigner } from './signature.js';

/** Checks by metrics, by webhooks and by Jobs. */
export class RolloutCheckMeter implements CheckMeter {
  private readonly sender: HttpSender;
  private readonly signer: RequestSigner;

  constructor(
    private readonly clock: Clock,
    private readonly options: RolloutChecksOptions,
  ) {
    const { hosts = [], keyFile } = options;
    this.sender = options.sender ?? new UndiciSender(clock, (url) => hostProblem(url, hosts));
    this.signer = fileSigner(keyFile, () => clock.now());
  }

  measure({ definition, run, subject }: DueCheck, context: MeterContext): Promise<Measured | JobRuns> {
    const { client, replicaSet, signal } = context;
    const { sender, signer } = this;
    if (definition.kind === 'webhook') {
      const replicaSetUid = replicaSet.metadata.uid ?? '';
      return measureWebhook(definition, { subject, run, replicaSetUid }, { sender, signer, signal });
    }
    if (definition.kind === 'job')
      return measureJob(
        definition,
        { subject, run, replicaSet },
        { client, signal, nowMs: this.clock.now() },
      );
    const secrets = this.options.readsSecrets === true ? secretsOf(client) : NO_SECRETS;
    return measureMetric(definition.metric, subject, { sender, secrets, signal, clock: this.clock });
  }

  onMeasured(about: { readonly kind: string; readonly verdict: CheckVerdict }): void {
    this.options.onMeasured?.(about);
  }
}

import type { HostRule } from './check-hosts.js';
import type { CheckVerdict } from './common/check-verdict.js';
import type { HttpSender } from './common/http-sender.js';

export interface RolloutChecksOptions {
  /** The hosts to which requests may go. @default nowhere, so that Jobs alone can be checks */
  readonly hosts?: readonly HostRule[];
  /** The file of the key with which requests to webhooks are signed. @default they are not signed */
  readonly keyFile?: string;
  /** Whether requests may have values of Secrets, which allow the host by an annotation. @default false */
  readonly readsSecrets?: boolean;
  /** Sends the requests. @default over HTTP, to {@link hosts} alone */
  readonly sender?: HttpSender;
  /** Hears of each measurement that has been recorded. */
  readonly onMeasured?: (about: { readonly kind: string; readonly verdict: CheckVerdict }) => void;
}

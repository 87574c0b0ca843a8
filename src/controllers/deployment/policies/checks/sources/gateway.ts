import { z } from 'zod';
import {
  COMPARABLE_FIELDS,
  address,
  durationBetween,
  headers,
  oneJudgement,
  query,
} from '../common/definition-fields.js';
import type { IncomingAnswer } from '../common/http-sender.js';
import { asWord, fillQuery } from '../common/query-variables.js';
import type { CheckSubject } from '../common/subject.js';
import { IMPLEMENTATIONS, latency, successRate } from './gateway-queries.js';
import type { Asking, Metric } from './metric.js';
import { filledHeaders, metricOf } from './metric.js';
import { instantQuery, rangeQuery, samplesOfPrometheus, valuesOfPrometheus } from './prometheus.js';

const quantile = z.string({ error: 'is not a percentage such as 99%' }).transform((text, context) => {
  const [, digits] = /^(\d{1,2}(?:\.\d{1,3})?)%$/.exec(text) ?? [];
  if (digits !== undefined && Number(digits) > 0) return Number(digits) / 100;
  context.addIssue({ code: 'custom', message: `"${text}" is not a percentage between 0% and 100%` });
  return z.NEVER;
});

const place = z.int().min(0).max(63);

/**
 * The success rate or the latency of the requests that a gateway sends to the canary Service, without a query: those that an implementation
 * of the Gateway API reports to Prometheus. Compared, it is beside those of the stable Service.
 */
export const gateway = z
  .strictObject({
    address,
    headers,
    implementation: z.enum(IMPLEMENTATIONS, { error: `is not one of ${IMPLEMENTATIONS.join(', ')}` }),
    measures: z.enum(['success-rate', 'latency'], { error: 'is neither success-rate nor latency' }),
    quantile: quantile.default(0.99),
    'rate-over': durationBetween(10_000, 3_600_000).default(60_000),
    canary: query.default('{{name}}-canary'),
    stable: query.default('{{name}}-stable'),
    route: query.default('{{name}}'),
    rule: place.default(0),
    backends: z.strictObject({ canary: place, stable: place }).default({ canary: 1, stable: 0 }),
    ...COMPARABLE_FIELDS,
  })
  .superRefine(oneJudgement)
  .transform((read): Metric => {
    const ask = async (path: string, asking: Asking): Promise<IncomingAnswer> => {
      const url = `${read.address}/api/v1/${path}`;
      const own = await filledHeaders(read.headers, url, asking);
      return asking.send({ method: 'GET', url, headers: own });
    };
    const queryFor = (subject: CheckSubject): string => {
      // The comparison asks for the stable version in place of the new one.
      const isStable = subject.stable?.hash === subject.hash;
      const named = (text: string): string => asWord(fillQuery(text, subject, asWord));
      const namespace = asWord(subject.namespace);
      const backend = isStable ? read.backends.stable : read.backends.canary;
      const requests = {
        namespace,
        service: named(isStable ? read.stable : read.canary),
        cluster: `httproute/${namespace}/${named(read.route)}/rule/${read.rule}/backend/${backend}`,
        window: `${Math.round(read['rate-over'] / 1000)}s`,
      };
      return read.measures === 'latency'
        ? latency(read.implementation, requests, read.quantile)
        : successRate(read.implementation, requests);
    };
    return metricOf({ title: 'Prometheus', timeoutMs: read.timeout, urls: [read.address] }, read, {
      valuesOf: async (asking) =>
        valuesOfPrometheus(await ask(instantQuery(queryFor(asking.subject)), asking)),
      samplesOf: async (asking) => {
        const { windowMs = 0 } = read.compare ?? {};
        const path = rangeQuery(queryFor(asking.subject), asking.nowMs, windowMs);
        return samplesOfPrometheus(await ask(path, asking));
      },
    });
  });

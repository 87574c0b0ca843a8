import { z } from 'zod';
import { toInt64 } from '@rollkeeper/machinery/kubernetes';
import type { Int64 } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../errors/index.js';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { DocumentLimitError, parseYaml, readJsonText } from '../schema/index.js';
import { decodeProtobuf, PROTOBUF_MEDIA_TYPE } from '../protobuf/decode-protobuf.js';
import type { SchemaRegistry } from '../schema/index.js';

const schema = z.object({
  gracePeriodSeconds: z.custom<Int64>((value) => toInt64(value) !== undefined, 'expected an int64').nullish(),
  propagationPolicy: z.string().nullish(),
  orphanDependents: z.boolean().nullish(),
  dryRun: z.array(z.string()).nullish(),
  preconditions: z.object({ uid: z.string().nullish(), resourceVersion: z.string().nullish() }).nullish(),
});

/** `metav1.DeleteOptions`, as far as we have it. */
export interface DeleteOptionsBody {
  readonly gracePeriodSeconds?: Int64;
  readonly propagationPolicy?: string;
  readonly orphanDependents?: boolean;
  readonly dryRun?: readonly string[];
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/** @throws StatusError 400 */
export async function decodeDeleteOptions(
  body: Buffer,
  contentType: string,
  schemas: SchemaRegistry,
): Promise<DeleteOptionsBody> {
  const parsed = schema.safeParse(await parse(body, contentType, schemas));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw badRequest(
      `DeleteOptions in version "v1" cannot be handled as a DeleteOptions: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
      parsed.error,
    );
  }
  const { preconditions, ...rest } = parsed.data;
  return {
    gracePeriodSeconds: toInt64(rest.gracePeriodSeconds),
    propagationPolicy: rest.propagationPolicy ?? undefined,
    orphanDependents: rest.orphanDependents ?? undefined,
    dryRun: rest.dryRun ?? undefined,
    preconditions: {
      uid: preconditions?.uid ?? undefined,
      resourceVersion: preconditions?.resourceVersion ?? undefined,
    },
  };
}

const SCHEMA = 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions';

async function parse(body: Buffer, contentType: string, schemas: SchemaRegistry): Promise<unknown> {
  if (contentType === PROTOBUF_MEDIA_TYPE) return decodeProtobuf(body, { schemas, schema: SCHEMA });
  try {
    const text = body.toString('utf8');
    return contentType.includes('yaml') ? (await parseYaml(text)).value : readJsonText(text);
  } catch (error) {
    if (error instanceof DocumentLimitError) throw error;
    throw badRequest(`couldn't get version/kind; json parse error: ${errorMessage(error)}`, error);
  }
}

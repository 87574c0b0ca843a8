import { randomUUID } from 'node:crypto';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { apiVersionOf, cloneJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { StatusError } from '../../schema/errors/index.js';
import { customSchemaName } from '../index.js';
import type { KindDefinition, WebhookConversion } from '../index.js';
import { DecodeError, normalizeObject, readMessage } from '../../schema/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { StorageUnreadableError } from '../../storage/index.js';
import type { Converted, ObjectView } from '../../storage/index.js';
import { CONVERSION_REVIEW, WebhookCallError, withReviews } from '../webhook-client/index.js';
import type { WebhookCaller, WebhookTarget } from '../webhook-client/index.js';
import {
  checkConverted,
  ConversionError,
  conversionReview,
  readConversionReview,
  reviewVersionOf,
} from './conversion-review.js';

/** As the genuine server's clients of webhooks wait. */
const TIMEOUT_SECONDS = 30;
/** The longest answer: a page of objects, with what a conversion may add. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/**
 * Converts custom resources between versions by the definition's webhook. Objects already in that version skip the
 * webhook.
 */
export class VersionConverter {
  constructor(
    private readonly client: WebhookCaller,
    private readonly schemas: SchemaRegistry,
  ) {}

  /**
   * How the objects of a kind are stored and shown; undefined for one that shows them as they are stored. What it does
   * rejects with a StatusError 500 where the webhook fails, or answers what it must not.
   */
  viewOf(kind: KindDefinition): ObjectView | undefined {
    const { view } = kind;
    const conversion = view?.conversion;
    if (!view || !conversion) return view;
    const { shown, stored } = conversion;
    const target = targetOf(conversion);
    const convert = (objects: readonly Readonly<UnstructuredObject>[], wanted: string) =>
      this.convert(target, conversion, objects, wanted);
    return {
      resource: view.resource,
      toStored: async (object) => {
        if (object.apiVersion === stored) return object;
        const [converted] = await convert([object], stored);
        return converted!;
      },
      fromStored: (object) => (object.apiVersion === shown ? view.fromStored(object) : undefined),
      convert: (objects) =>
        withoutBroken(
          objects,
          (object) => this.problemOf(object, kind),
          async (sound) => {
            const converted = await convert(sound, shown);
            return converted.map((object) => view.fromStored(this.pruned(object, kind)));
          },
        ),
    };
  }

  /** Why a stored object is none of the kind in any version; undefined: it is one. */
  private problemOf(object: Readonly<UnstructuredObject>, { type }: KindDefinition): string | undefined {
    const [group, version = ''] = String(object.apiVersion).split('/');
    if (object.kind !== type.kind || group !== type.group)
      return `it is a ${String(object.kind)} of ${String(object.apiVersion)}, not a ${type.kind} of ${type.group}`;
    const schema = customSchemaName({ ...type, version });
    if (!this.schemas.get(schema)) return undefined;
    try {
      normalizeObject(cloneJson(object), this.schemas, schema);
      return undefined;
    } catch (error) {
      return errorMessage(error);
    }
  }

  /**
   * An object of another version of a definition, as a kind of the same definition shows it.
   * @throws StatusError 500 where the webhook fails, or answers what it must not
   */
  async inFormOf(
    wanted: KindDefinition,
    own: KindDefinition,
    object: Readonly<UnstructuredObject>,
  ): Promise<UnstructuredObject> {
    if (wanted === own) return object;
    const { conversion } = wanted.view ?? {};
    if (!wanted.view || !conversion) return shownAs(wanted, own, object);
    const [converted] = await this.convert(targetOf(conversion), conversion, [object], conversion.shown);
    return wanted.view.fromStored(this.pruned(converted!, wanted));
  }

  private async convert(
    target: WebhookTarget,
    { reviewVersions }: WebhookConversion,
    objects: readonly Readonly<UnstructuredObject>[],
    wanted: string,
  ): Promise<UnstructuredObject[]> {
    try {
      const version = reviewVersionOf(reviewVersions);
      const uid = randomUUID();
      const review = conversionReview(version, { uid, desiredAPIVersion: wanted, objects });
      const sent = await this.client.post(target, stringifyJson(review));
      const answer = readMessage(sent, withReviews(this.schemas), CONVERSION_REVIEW);
      return checkConverted(objects, readConversionReview(answer, uid, version), wanted);
    } catch (error) {
      throw refusalOf(error, objects[0]!);
    }
  }

  /** Without the fields that the schema of the wanted version does not have. */
  private pruned(object: UnstructuredObject, { schema }: KindDefinition): UnstructuredObject {
    // A version that is not served has no schema here.
    if (!this.schemas.get(schema)) return object;
    try {
      normalizeObject(object, this.schemas, schema);
      return object;
    } catch (error) {
      throw error instanceof DecodeError
        ? refusalOf(new ConversionError(`failed: ${error.message}`), object)
        : error;
    }
  }
}

/** One object that is broken in the store may spoil the answer about all: where there is one, the others are asked about again. */
async function withoutBroken(
  objects: readonly Readonly<UnstructuredObject>[],
  problemOf: (object: Readonly<UnstructuredObject>) => string | undefined,
  convert: (objects: readonly Readonly<UnstructuredObject>[]) => Promise<readonly UnstructuredObject[]>,
): Promise<readonly Converted[]> {
  try {
    return await convert(objects);
  } catch (error) {
    const problems = objects.map(problemOf);
    if (problems.every((problem) => problem === undefined)) throw error;
    const sound = objects.filter((_, index) => problems[index] === undefined);
    const answers = (sound.length > 0 ? await convert(sound) : []).values();
    return problems.map((problem) =>
      problem === undefined ? answers.next().value! : new StorageUnreadableError(problem, { cause: error }),
    );
  }
}

function targetOf({ client }: WebhookConversion): WebhookTarget {
  return { client, timeoutSeconds: TIMEOUT_SECONDS, maxAnswerBytes: MAX_ANSWER_BYTES };
}

/** Without a webhook: the same object under another version or group. */
function shownAs(
  wanted: KindDefinition,
  own: KindDefinition,
  object: Readonly<UnstructuredObject>,
): UnstructuredObject {
  const stored = own.view ? own.view.toStored(object) : object;
  return wanted.view ? wanted.view.fromStored(stored) : { ...stored, apiVersion: apiVersionOf(wanted.type) };
}

/** An unexpected error is the server's own fault, without a reason. Source: ErrorToAPIStatus in apiserver. */
function refusalOf(error: unknown, { apiVersion, kind }: Readonly<UnstructuredObject>): unknown {
  const problem =
    error instanceof WebhookCallError || error instanceof DecodeError
      ? `failed: ${error.message}`
      : error instanceof ConversionError
        ? error.message
        : undefined;
  if (problem === undefined) return error;
  return new StatusError(500, '', `conversion webhook for ${apiVersion}, Kind=${kind} ${problem}`, {
    cause: error,
  });
}

import { z } from 'zod';
import { uncheckedObject } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { SentType } from '../../access/admission/index.js';
import { badRequest, internalError } from '../../schema/errors/index.js';

const STREAMS = ['stdin', 'stdout', 'stderr', 'tty'] as const;

/** The options of a connection to a pod. Source: PodExecOptions, PodAttachOptions, PodPortForwardOptions in core/v1. */
export type ConnectOptions = z.infer<typeof connectOptions>;

const connectOptions = z.object({
  stdin: z.boolean().default(false),
  stdout: z.boolean().default(false),
  stderr: z.boolean().default(false),
  tty: z.boolean().default(false),
  container: z.string().default(''),
  command: z.array(z.string()).default([]),
  ports: z.array(z.int()).default([]),
});

type TypeOf = (connected: ResourceType) => SentType;

const optionsOf =
  (verb: string): TypeOf =>
  (connected) => ({ type: { ...connected, kind: `${connected.kind}${verb}Options` } });

/** The type of the options of a connection, by its subresource and by what is connected to. */
export const CONNECT_TYPES: Readonly<Record<string, TypeOf>> = {
  exec: optionsOf('Exec'),
  attach: optionsOf('Attach'),
  portforward: optionsOf('PortForward'),
  proxy: optionsOf('Proxy'),
};

/**
 * The options that a query asks for, as webhooks and policies see them. Source: Convert_Slice_string_To_bool and its like in
 * apimachinery/pkg/runtime.
 * @throws StatusError 400
 */
export function connectOptionsOf(query: URLSearchParams, subresource: string): UnstructuredObject {
  const container = query.get('container') ?? '';
  const command = query.getAll('command');
  const options =
    subresource === 'portforward'
      ? {
          ports: query
            .getAll('ports')
            .filter((text) => text !== '')
            .map(portOf),
        }
      : {
          ...Object.fromEntries(STREAMS.filter((name) => isOn(query, name)).map((name) => [name, true])),
          ...(container !== '' && { container }),
          ...(subresource === 'exec' && command.length > 0 && { command }),
        };
  return uncheckedObject(options);
}

/** A parameter is false only if it is absent, `false` or `0`. */
function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value.toLowerCase() !== 'false' && value !== '0';
}

function portOf(text: string): number {
  if (/^[-+]?\d{1,9}$/.test(text)) return Number(text);
  throw badRequest(
    `cannot convert to []int32: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
  );
}

/** The options as webhooks have left them. @throws StatusError 500 for those that are none any more */
export function admittedOptions(object: unknown): ConnectOptions {
  const { data, error } = connectOptions.safeParse(object);
  if (!data) throw internalError(`the options of a connection are wrong: ${z.prettifyError(error)}`);
  return data;
}

import { Controller, Get, Inject, NotFoundException, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import type { Diagnosis, KindDiagnosis, Problems } from '../../insight/diagnose/index.js';
import { findProblems, kindNamed } from '../../insight/diagnose/index.js';
import type { ExplainedObject } from '../../insight/explain-pod/explain-object.js';
import { explainObject } from '../../insight/explain-pod/explain-object.js';
import { AdminPorts } from './admin-ports.js';
import { answered } from './api-answers.js';
import type { CallerApi } from './caller-client.js';
import { CallerClient, readerOf } from './caller-client.js';
import { CallerSights } from './caller-sights.js';
import { parseName, parseScope } from './request-parsing.js';
import { Shows } from './route-sight.js';

/** Looks within this time, milliseconds, share one answer: it takes a list of every kind. */
const SHARED_MS = 2000;

interface Look {
  readonly atMs: number;
  readonly found: Promise<Problems>;
}

/** The problems, and the explanation of objects of any kind, with the rights of the caller. */
@Controller('admin')
@Shows('caller')
export class ProblemsController {
  private readonly looks = new Map<string, Look>();

  constructor(
    @Inject(AdminPorts) private readonly ports: AdminPorts,
    @Inject(CallerClient) private readonly callers: CallerClient,
    @Inject(CallerSights) private readonly sights: CallerSights,
  ) {}

  @Get('problems')
  async problems(
    @Query('namespace') namespace: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<Problems> {
    const scope = parseScope(namespace);
    const caller = this.callers.of(request, response);
    return answered(this.look(caller, scope));
  }

  @Get('explain/:kind/:namespace/:name')
  async namespaced(
    @Param('kind') word: string,
    @Param('namespace') namespace: string,
    @Param('name') name: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ExplainedObject> {
    const kind = namedKind(word, true);
    const ref = { namespace: parseName(namespace, 'namespace'), name: parseName(name, 'name') };
    return this.explain(kind, ref, this.callers.of(request, response));
  }

  @Get('explain/:kind/:name')
  async ofCluster(
    @Param('kind') word: string,
    @Param('name') name: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ExplainedObject> {
    const ref = { namespace: '', name: parseName(name, 'name') };
    return this.explain(namedKind(word, false), ref, this.callers.of(request, response));
  }

  private explain(
    kind: KindDiagnosis,
    ref: Required<ObjectRef>,
    caller: CallerApi,
  ): Promise<ExplainedObject> {
    const nowMs = this.ports.clock.now();
    return answered(explainObject(caller.client, kind, ref, { nowMs, ...readerOf(caller) }));
  }

  private look(caller: CallerApi, namespace: string | undefined): Promise<Problems> {
    const { client, user } = caller;
    const nowMs = this.ports.clock.now();
    for (const [key, { atMs }] of this.looks) if (nowMs - atMs >= SHARED_MS) this.looks.delete(key);
    const key = JSON.stringify([user ?? null, namespace ?? null]);
    const known = this.looks.get(key);
    if (known) return known.found;
    const found = findProblems(client, {
      ...{ nowMs, ofEveryKind: true },
      ...readerOf(caller),
      ...(namespace === undefined ? { beside: () => this.beside(caller) } : { namespace }),
    });
    this.looks.set(key, { atMs: nowMs, found });
    found.catch(() => this.looks.delete(key));
    return found;
  }

  /** Replicas and certificates are of all namespaces: users who see only some of them are shown none. */
  private async beside(caller: CallerApi): Promise<readonly Diagnosis[]> {
    const { besides } = this.ports;
    return besides && (await this.sights.of(caller).sees('')) ? besides.find() : [];
  }
}

/** @throws NotFoundException for a kind that cannot be explained, or that is not of this scope */
function namedKind(word: string, namespaced: boolean): KindDiagnosis {
  const kind = kindNamed(word);
  if (!kind)
    throw new NotFoundException({ error: `"${word.slice(0, 100)}" is no kind that can be explained` });
  if (kind.type.namespaced !== namespaced)
    throw new NotFoundException({
      error: namespaced
        ? `a ${kind.type.kind} is in no namespace: explain/${word}/NAME`
        : `a ${kind.type.kind} is in a namespace: explain/${word}/NAMESPACE/NAME`,
    });
  return kind;
}

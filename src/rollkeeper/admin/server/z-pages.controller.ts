import { Controller, Get, Inject, NotAcceptableException, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { VERSION } from '@rollkeeper/machinery/version';
import { AdminPorts } from './admin-ports.js';
import { structuredVersionAsked, renderFlagz, renderStatusz } from './z-pages.js';
import type { ComponentStatus } from './z-pages.js';
import { Shows } from './route-sight.js';

/** The kind of the options in `/configz`, and the component's name in requests. */
const CONFIG_KIND = 'RollkeeperControllerConfiguration';
const CONFIG_GROUP = 'controller.rollkeeper.dev';
/** Further paths listed by `/statusz`. */
const PATHS = ['/configz', '/console', '/flagz', '/healthz', '/livez', '/metrics', '/readyz', '/statusz'];

/** `/configz`, `/flagz` and `/statusz`, as Kubernetes components serve them. Requires the rights of the admin pages. */
@Controller()
@Shows('cluster')
export class ZPagesController {
  constructor(@Inject(AdminPorts) private readonly ports: AdminPorts) {}

  @Get('configz')
  configz(): Readonly<Record<string, object>> {
    const identity = { kind: CONFIG_KIND, apiVersion: `${CONFIG_GROUP}/v1alpha1` };
    return { [CONFIG_GROUP]: { ...identity, ...this.ports.config() } };
  }

  @Get('flagz')
  flagz(@Req() request: Request, @Res() response: Response): void {
    const config = this.ports.config();
    this.answer(request, response, 'Flagz', renderFlagz(config));
  }

  @Get('statusz')
  statusz(@Req() request: Request, @Res() response: Response): void {
    const { clock, startedAtMs } = this.ports;
    const status: ComponentStatus = {
      startedAtMs,
      uptimeSeconds: Math.max(0, Math.floor((clock.now() - startedAtMs) / 1000)),
      nodeVersion: process.version,
      binaryVersion: VERSION,
      paths: PATHS,
    };
    const { nodeVersion, binaryVersion, paths, uptimeSeconds } = status;
    this.answer(request, response, 'Statusz', {
      text: renderStatusz(status),
      fields: { startTime: toRfc3339(startedAtMs), uptimeSeconds, nodeVersion, binaryVersion, paths },
    });
  }

  /**
   * Plain text, unless the structured form is requested with all of its parameters: the rule of Kubernetes' z-pages.
   */
  private answer(
    request: Request,
    response: Response,
    kind: 'Flagz' | 'Statusz',
    { fields, text }: { readonly text: string; readonly fields: object },
  ): void {
    const version = structuredVersionAsked(request.headers.accept, kind);
    response.setHeader('Cache-Control', 'no-store');
    if (version !== undefined) {
      const metadata = { name: 'rollkeeper' };
      response.json({ kind, apiVersion: `config.k8s.io/${version}`, metadata, ...fields });
    } else if (request.headers.accept === undefined || request.accepts('text/plain')) {
      response.type('text/plain').send(text);
    } else {
      const error = `only text/plain, or application/json;v=v1beta1;g=config.k8s.io;as=${kind}`;
      throw new NotAcceptableException({ error });
    }
  }
}

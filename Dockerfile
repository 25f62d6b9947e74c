# The command as one file, which `npm run single` makes; nothing is installed in the image. Build one target of three:
#   docker build -t drillproof .                            the command
#   docker build -t drillproof-serve --target serve .       the control plane
#   docker build -t drillproof-worker --target worker .     its worker
# The user has no privileges, and the root can be read-only: only /var/lib/drillproof and /tmp are written to.
# The tests run this layout without a container (test/docs/containers.deep.test.ts); no test builds the image.
FROM node:24-slim AS base
COPY --chmod=0755 single/drillproof.mjs /usr/local/bin/drillproof
RUN install -d -o 10001 -g 10001 -m 0750 /var/lib/drillproof
USER 10001:10001
WORKDIR /var/lib/drillproof
ENTRYPOINT ["drillproof"]

FROM base AS serve
EXPOSE 8080
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8080", "--data", "/var/lib/drillproof"]

FROM base AS worker
EXPOSE 8081
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:8081/readyz').then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["worker", "--health-host", "0.0.0.0", "--health-port", "8081", "--data", "/var/lib/drillproof"]

FROM base AS command

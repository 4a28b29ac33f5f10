# Image of a sandbox. From the root of the repository: npm run build, then
# docker build -f chart/images/sandbox.Dockerfile --build-arg BASE_IMAGE=BASE@sha256:… .
# BASE_IMAGE has sh, Node.js 20, Git and what agents are to find; its programs run as user 10001 on a read-only root.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
COPY dist/agent-server.cjs dist/agent-server.cjs.compiled dist/agent-openhands.cjs dist/sandbox-init.cjs dist/workspace-reader.cjs /opt/parley/
RUN mkdir -p /workspace /agent /home/agent /run/parley/agent /opt/parley-guard \
  && sh -c 'command -v node && command -v git'
USER 10001:10001

# Image of Parley itself. From the root of the repository: npm ci && npm run build, then
# docker build -f chart/images/parley.Dockerfile --build-arg NODE_IMAGE=NODE@sha256:… .
# NODE_IMAGE has Node.js 20 and Git.
ARG NODE_IMAGE
FROM ${NODE_IMAGE}
WORKDIR /opt/parley
COPY package.json package-lock.json ./
COPY node_modules node_modules
COPY dist dist
COPY schema schema
USER 10001:10001
ENTRYPOINT ["node", "/opt/parley/dist/parley.js"]

/**
 * A walk from start to download with the HTTP client that comes with Java, as it is by default: it offers HTTP/2.
 * Owns the calls and what each must answer; prints what it has found as lines, and fails with a sentence.
 */
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipInputStream;

public class JavaClient {
  private static final String APP = "/api/v1/app-conversations";
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private final HttpClient client = HttpClient.newHttpClient();
  private final String url;
  private final String key;

  JavaClient(String url, String key) {
    this.url = url;
    this.key = key;
  }

  public static void main(String[] args) throws Exception {
    new JavaClient(args[0], args[1]).walk();
  }

  private void walk() throws Exception {
    String message = "{\"initial_message\":{\"content\":[{\"type\":\"text\",\"text\":\"Write hello.txt\"}]}}";
    String started = ok(call("POST", APP, message));
    String task = field(started, "id");
    String ready = until(APP + "/start-tasks?ids=" + task, "status", "READY|ERROR");
    if (!field(ready, "status").equals("READY")) throw new IllegalStateException("not ready: " + ready);
    String id = field(ready, "app_conversation_id");
    String record = until(APP + "?ids=" + id, "execution_status", "FINISHED|ERROR|STUCK");
    System.out.println("status " + field(record, "execution_status"));
    System.out.println("model " + field(record, "llm_model"));
    System.out.println("file " + ok(call("GET", APP + "/" + id + "/file?file_path=hello.txt", null)).trim());
    HttpResponse<byte[]> head =
        client.send(request("HEAD", APP + "/" + id + "/download", null), BodyHandlers.ofByteArray());
    System.out.println("head " + head.statusCode() + " " + head.body().length);
    // An answer of before may still be on its way out, and is then an export under way.
    HttpResponse<byte[]> zip = download(id);
    System.out.println("entries " + String.join(" ", entries(zip.body())));
    System.out.println("streamed " + firstFrame(id));
    System.out.println("deleted " + call("DELETE", APP + "/" + id, null).statusCode());
  }

  private HttpResponse<byte[]> download(String id) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    for (;;) {
      HttpResponse<byte[]> zip =
          client.send(request("GET", APP + "/" + id + "/download", null), BodyHandlers.ofByteArray());
      if (zip.statusCode() == 200) return zip;
      if (zip.statusCode() != 409 || System.nanoTime() > end)
        throw new IllegalStateException("download: " + zip.statusCode() + " " + new String(zip.body()));
      Thread.sleep(50);
    }
  }

  /** The first event of the stream; what comes after it is not waited for. */
  private String firstFrame(String id) throws Exception {
    HttpRequest asked = request("GET", "/api/v1/conversation/" + id + "/events/stream", null);
    try (java.util.stream.Stream<String> lines = client.send(asked, BodyHandlers.ofLines()).body()) {
      return lines.filter(line -> line.startsWith("id: ")).findFirst().orElse("nothing");
    }
  }

  private List<String> entries(byte[] bytes) throws Exception {
    List<String> names = new ArrayList<>();
    try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bytes))) {
      for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) names.add(entry.getName());
    }
    return names;
  }

  private String until(String path, String name, String pattern) throws Exception {
    long end = System.nanoTime() + PATIENCE.toNanos();
    for (;;) {
      String body = ok(call("GET", path, null));
      if (field(body, name).matches(pattern)) return body;
      if (System.nanoTime() > end) throw new IllegalStateException("it never came: " + body);
      Thread.sleep(50);
    }
  }

  private HttpResponse<String> call(String method, String path, String body) throws Exception {
    return client.send(request(method, path, body), BodyHandlers.ofString());
  }

  private HttpRequest request(String method, String path, String body) {
    return HttpRequest.newBuilder(URI.create(url + path))
        .header("Authorization", "Bearer " + key)
        .header("Content-Type", "application/json")
        .timeout(PATIENCE)
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
        .build();
  }

  private static String ok(HttpResponse<String> answer) {
    if (answer.statusCode() / 100 == 2) return answer.body();
    throw new IllegalStateException(answer.uri() + ": " + answer.statusCode() + " " + answer.body());
  }

  /** The first value of this name that is a text; empty for none. */
  private static String field(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\":\"([^\"]*)\"").matcher(json);
    return found.find() ? found.group(1) : "";
  }
}

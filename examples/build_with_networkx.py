"""A graph built with networkx, judged here, mended there: attributes are the keys of the file format."""

import networkx

from pointstamp import check_conditions, from_networkx, to_networkx

crawler = networkx.DiGraph(name="crawler", inputs=[{"id": "seeds", "to": "fetch"}])
crawler.add_node("fetch")
crawler.add_node("parse", notify=False)
crawler.add_node("filter", notify=False)
crawler.add_edge("fetch", "parse")
crawler.add_edge("parse", "filter")
crawler.add_edge("filter", "fetch", id="links")

report = check_conditions(from_networkx(crawler))
print("every cycle advances:", report.advancing.holds)
print("this one does not:   ", " -> ".join(report.advancing.cycle or ()))

crawler.edges["filter", "fetch"]["summary"] = {"advance": 1}  # a link found in round n is fetched in round n + 1
graph = from_networkx(crawler)
print("and now:             ", check_conditions(graph).advancing.holds)

back = to_networkx(graph)
print("back in networkx:    ", sorted(back.nodes), "with", len(list(networkx.simple_cycles(back))), "cycle")
